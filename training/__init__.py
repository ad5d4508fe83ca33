"""How the small models are made: mining, preparation, training, weighing, export. Not needed at run time."""
