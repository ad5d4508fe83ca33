-- An administrator runs this once, with psql in the new database longmind. The passwords are in the environment.
\set ON_ERROR_STOP on
\getenv owner_password LONGMIND_DB_PASSWORD
\getenv app_password LONGMIND_APP_PASSWORD

-- Owns the tables: migrations, doctor and workers.
CREATE ROLE longmind LOGIN PASSWORD :'owner_password';
-- Owns nothing: the server. `longmind doctor --create-role longmind_app` gives it its rights.
CREATE ROLE longmind_app LOGIN NOINHERIT PASSWORD :'app_password';
ALTER DATABASE longmind OWNER TO longmind;
CREATE EXTENSION vector;
