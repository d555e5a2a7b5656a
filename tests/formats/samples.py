"""Small files of every kind."""

from __future__ import annotations

CONLLU = """\
# newdoc id = d1
# sent_id = 1
# text = Don't feed the owls  here.
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVB\tMood=Imp|VerbForm=Fin\t3\taux\t_\t_
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_
3\tfeed\tfeed\tVERB\tVB\tVerbForm=Inf\t0\troot\t_\t_
4\tthe\tthe\tDET\tDT\tDefinite=Def|PronType=Art\t5\tdet\t_\t_
5\towls\towl\tNOUN\tNNS\tNumber=Plur\t3\tobj\t_\tSpacesAfter=\\s\\s
5.1\tplease\tplease\tINTJ\tUH\t_\t_\t_\t3:discourse\t_
6\there\there\tADV\tRB\t_\t3\tadvmod\t_\tSpaceAfter=No
7\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_ \n
# sent_id = 2
1\tOwls\towl\tNOUN\tNNS\tNumber=Plur\t2\tnsubj\t_\t_
2\tsleep\tsleep\tVERB\tVBP\t_\t0\troot\t_\t_

"""

BUNDLES = """\
# sent_id = 1
1\tsowy\tsowa\t_\t_\tN;PL;NOM;FEM\t_\t_\t_\t_
2\tśpią\tspać\t_\t_\tV;PL;3;PRS\t_\t_\t_\t_

"""

CHUNKS = """\
The DT B-NP
# # I-NP
owls NNS I-NP
sleep VBP B-VP
. . O

They PRP B-NP
wake VBP B-VP

"""

ENTITIES = """\
-DOCSTART- -X- O O

Ada NNP B-NP B-PER
Pine NNP I-NP I-PER
left VBD B-VP O

-DOCSTART- -X- O O

Rome NNP B-NP B-LOC
"""

ABSTRACTS = """\
###MEDLINE:12345

NFX-9\tB-protein
binds\tO

###MEDLINE:67890

#\tO
CD7\tB-protein

"""

CONLLX = """\
1\thontzak\thontz\tIZE\tIZE_ARR\tABS|PL\t2\tncsubj\t_\t_
2\tdaude\tegon\tADT\tADT\t_\t0\tROOT\t_\t_

"""

TEXT = "The owls sleep .\n\nThey wake .\n"

FILES = {
    "a.conllu": CONLLU,
    "b.conllu": BUNDLES,
    "c.txt": CHUNKS,
    "d.txt": ENTITIES,
    "e.iob2": ABSTRACTS,
    "f.conll": CONLLX,
    "g.txt": TEXT,
    "i.conllu": CONLLU.split("\n", 3)[3],
    "j.conllu": CONLLU.replace("3\tfeed", "# a\tb\tc\td\te\tf\tg\th\ti\tj\n3\tfeed"),
    "h.tsv": "owl\tNN\nsleeps\tVBZ",
}
