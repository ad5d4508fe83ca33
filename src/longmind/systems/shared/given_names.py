"""Common given names of many countries, by which a text is known to be about a person, also in small letters.

Names that are also words of the language (rose, mark, will) are left out: they count by their capital.
"""

from __future__ import annotations

GIVEN_NAMES = frozenset(
    """aaron abdul abdullah abigail adam adele aditya adrian agnes ahmad ahmed aisha akira alan albert alberto
    alejandra alejandro aleksandr alena alessandro alex alexa alexander alexandra alexandre alexis alfonso alfred
    ali alice alicia alina alison allison alma alvaro amanda amara amelia amina amir amit ana anastasia anders andre
    andrea andreas andrei andrew andrzej angela angelica angelo angus anita anja anjali ann anna anne annette annika
    ansel anthony antoine anton antonia antonio anya arjun arnold arthur arturo asha ashley astrid audrey august
    augusto aurora axel ayesha ayse barbara bart bartosz beatrice beatriz beatrix ben benedikt benjamin bernard
    bernd bernhard bertha beth betty bianca bilal bjorn bob bogdan boris brandon brenda brian bridget bruce bruno
    bryan camila camille carl carla carlos carmen carol carolina caroline carolyn catalina catherine cecilia cedric
    celine cesar chandra charles charlie charlotte chen chiara chidi chinedu chioma chloe chris christian christina
    christine christoph christopher cindy claire clara claude claudia claudio clemens cleo clive colin connor conrad
    cornelia craig cristina cynthia dagmar damian dan daniel daniela danielle darius david deborah deepak denis
    denise dennis derek diana diane diego dieter dimitri dina dirk dmitri dominic dominik donald donna dora doris
    dorothy douglas duncan dylan eberhard eduardo edward edwin eileen elaine elena eleanor eli elias elif elisa
    elisabeth elise elizabeth ella ellen elsa emil emilia emily emma emre enrico enrique eric erica erich erik erika
    erin ernesto esther eugene eva evelyn evgeni fabian fabio farid fatima fatma federico felipe felix fernanda
    fernando filip finn fiona florian francesca francesco francis francisco francois frederic frederik friedrich
    gabriel gabriela gabriele gareth gary gemma geoffrey george georg gerald gerard gerhard gianni gilbert gina
    giovanni gisela giulia giuseppe gloria gonzalo gordon greta gregory guido guillermo gunter gustav gustavo hamid
    hana hanna hannah hans harold harriet harry hasan hassan heather hector heidi heinrich helen helena helga henri
    henrik henry herbert hermann hiroshi holger howard hugo hussein ibrahim ida ignacio igor ilse imran ina ines
    ingrid irene irina isaac isabel isabella isabelle ivan ivana jacek jackie jacob jacqueline jacques jaime jakob
    jakub james jamie jan jana jane janet janina jannik jasmine jasper javier jean jeff jeffrey jelena jennifer
    jenny jens jeremy jerome jesse jessica jesus jill jim jimmy joan joana joao joaquim johan johann johanna john
    johnny jonas jonathan jorge jose josef joseph josephine joshua juan juana judith julia julian juliana julie
    julien juliet julio jun jurgen justin justyna kamil karen karim karin karl karolina kasia kate katharina
    katherine kathleen kathy katja kazuki keith kelly ken kenji kenneth kerstin kevin khadija khalid kiran klara
    klaus kofi konrad kristen kristin kristina kumar kurt kwame lakshmi lara larissa larry lars laura lauren laurent
    lea leah leila lena leo leon leonard leonardo leonie leonor leslie leticia liam lidia lillian linda linnea lisa
    liz lorenzo lothar louis louisa louise lourdes luca lucas lucia luciano lucy ludwig luigi luis luisa lukas luke
    lydia maciej madeleine magda magdalena mahmoud maja malcolm malik manfred manuel manuela marc marcel marcela
    marcelo marcin marco marcos margaret margarita maria mariam mariana marianne marie marina mario marion marisol
    marlene marta martha martin martina mary mateo mateusz mathias mathilde matilda matteo matthew matthias maureen
    maurice max maximilian maya megan mehmet mei melanie melissa mercedes mia michael michal michelle miguel mikhail
    mila milan milena miriam mohamed mohammad mohammed moira monica monika moritz muhammad murray mustafa nadia
    nadine nancy naomi natalia natalie natasha nathan neha neil nelson nguyen nicholas nick nicola nicolas nicole
    nigel nikhil nikita niklas nikolai nils nina noah noemi nora norbert norman olaf oleg olga oliver olivia olivier
    omar oscar oskar otto owen pablo pamela paola paolo pascal patricia patrick paul paula paulina paulo pavel pedro
    peggy penelope petra philip philipp philippe pierre pilar piotr pooja prakash pranav priya rachel radek rafael
    rahul rainer raj rajesh ralf ralph ramon ramona randy raquel rashid raul ravi raymond rebecca regina reinhard
    renata renate rene ricardo richard rita robert roberta roberto robin rodrigo roger rohan roland rolf roman ron
    ronald rosa rosario rosemary ruben rudolf ruth ryan sabine sabrina said salma salvatore sam samantha samir
    samuel sandeep sandra sanjay sara sarah sascha satoshi scott sean sebastian selma serge sergei sergio shannon
    sharon sheila shirley sibylle siddharth sigrid silvia simon simona simone sofia sonia sonja sophia sophie
    stanislav stefan stefanie stella stephan stephanie stephen steve steven stuart sunil sunita susan susana susanne
    suzanne svein sven svetlana sylvia takashi tamara tania tanya tariq tatiana ted teresa terry theo theodor
    theresa thomas tiffany tim timothy tina tobias todd tom tomas tomasz tommy tony torsten tracy trevor ulrich
    ulrike ursula uwe valentina valeria vanessa vera veronica vicki victor victoria vijay vikram viktor vincent
    virginia vivian vladimir volker walter wanda wei wendy werner wilhelm william wolfgang xavier xenia yang yasmin
    yolanda yosef yuki yuri yusuf yvonne zainab zachary zhang zoe zofia""".split()
)
