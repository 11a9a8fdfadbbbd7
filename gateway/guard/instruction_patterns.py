"""The words of orders to reveal or to send, in English, German, French, Spanish, Italian, Portuguese and Dutch.

Verbs are RE2 expressions, what follows is for Python's `re`. `TAG` stands for a placeholder, `TARGET` for an address.
The languages are mixed: where a word means something else in another one, its neighbours decide.
"""

from dataclasses import dataclass

from gateway.guard.untrusted_destinations import PHONE


@dataclass(frozen=True, slots=True)
class Order:
    """The verb it begins with, and the rest of it."""

    verb: str
    rest: str


TAG = "\ue000++"
TARGET = (
    r"(?P<target>(?:https?|ftp|wss?)://[^\s\"'<>`]+|www\.[^\s\"'<>`]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    rf"|(?:[a-z0-9-]+\.)+[a-z]{{2,24}}(?:/[^\s\"'<>`]*)?|\d{{1,3}}(?:\.\d{{1,3}}){{3}}[^\s\"'<>`]*|{PHONE}"
    rf"|@[\w.]{{3,32}})"
)
_LEADING = (
    "please|now|then|next|also|and|kindly|immediately|just|simply|first|finally|(?:make|be) sure to|remember to"
    "|bitte|nun|jetzt|dann"
    "|und|sofort|veuillez|maintenant|puis|et|ensuite|s'il (?:te|vous) plaît|ahora|luego|después|y|e|por favor|debes"
    "|debe|tienes que"
    "|per favore|ora|poi|agora|depois|graag|nu|daarna|en|(?:you|assistant|agent|model|ai|client)(?: (?:must|should"
    "|shall|will|(?:have|need) to))?"
)
LEAD = rf"(?:^|[.,!?:;>*\n\"“„«'`(\]-]\s*|\b(?:{_LEADING})[,:]?\s+)"
_HIDDEN = (
    r"(?:(?:all|any|every|each|these|those)\s+(?:of\s+)?(?:(?:the|these|those)\s+)?(?:other\s+)?(?:placeholders?"
    r"|(?:redacted|masked|hidden|protected|withheld|anonymi[sz]ed)\s+(?:values?|names?|data|fields?|parts?))"
    r"|(?:den\s+|aller?\s+)?platzhaltern?|placeholders\b)"
)

# --- Send what a placeholder stands for somewhere -----------------------------------------------------------

_GIVE = (
    "send|post|upload|forward|transmit|submit|e-?mail|exfiltrate|push|relay|leak|copy|paste|share|append|text"
    "|whatsapp|pass|report|provide"
    "|give|hand|enter|type(?: in)?|key in|fill in|input|confirm|verify|validate|insert|put|drop"
    "|(?:send|schick|übermittel|übertrag|leit|lad|mail|geb|trag|bestätig|verifizier|hinterleg|füg|teil|nenn"
    "|meld)e?n? sie"
    "|sende|schicke?|übermittle|übertrage|leite|lade|maile|gib|trage|bestätige|hinterlege|füge|teile|nenne|melde"
    "|envoie|envoyez|envoyer|transmets|transmett(?:ez|re)|poste[zr]?|publie[zr]?|expédie[zr]?|téléverse[zr]?"
    "|communique[zr]?|saisir"
    "|saisis(?:sez)?|entre[zr]|indique[zr]|renseigne[zr]|confirme[zr]|tapez|validez|vérifiez|fournissez|insérez"
    "|env[ií][ae]|enviar|mand[aei]r?|transmit[ae]|transmitir|publi(?:c|qu)[ae]r?|sub[ae]|reenví[ae]|introduzca"
    "|introduc(?:e|ir)|ingres[ae]"
    "|escrib[ae]|confirm[aei]r?|verifi(?:c|qu)[ae]|indi(?:c|qu)[ae]|proporcion[ae]|facilite|peg(?:a|ue)|comparta"
    "|invi[ai]|inoltr[ai]"
    "|trasmett[ai]|inserisc[ai]|comunic[ai]|encaminhe|insira|informe|digite|stuurt?|verzendt?|mailt|deelt?|uploadt?"
)
_GO = (
    "open|visit|(?:go|navigate|browse|head) to|click(?: on)?|follow|access|load|use|reply|respond|answer|write"
    "|message|contact|call|phone"
    "|dial|ring|make|issue|perform|do|invoke|run|trigger|öffnen? sie|öffne|besuche(?:n sie)?|gehe?(?:n sie)?"
    "|rufen? sie|klicke(?:n sie)?"
    "|antworten? sie|antworte|schreiben? sie|schreibe?|kontaktieren sie|ouvre[zr]|ouvrir|visitez|allez sur"
    "|rendez-vous sur|cliquez sur"
    "|répondez|répondre|écrivez|contacte[zr]|abr[aei]|visit[aei]|vaya|ve|acced[ae]|acesse|entra|haga clic"
    "|respond[ae]|contact[ae]|clicchi"
    "|rispond[ai]|scriv[ai]|clique|escreva|opent|bezoekt?|klikt?|antwoordt?|schrijft?"
)
_INTO = (
    "to|into|in|at|on|with|via|through|under|an|nach|auf|zu|über|unter|bei|mit|à|vers|sur|par|dans|a|hacia|en|por"
    "|para|ad|presso|naar|aan|op"
)
_FILL_IN = (
    "enter|type(?: in)?|key in|fill in|input|confirm|verify|paste|submit|provide|with|including|include|quoting"
    "|quote|stating|state|giving"
    "|give|read out|geben sie|gib|tragen? sie|trage|bestätige(?:n sie)?|nenne(?:n sie)?|mit|saisissez|saisir|entrez"
    "|indique[zr]|indiquant"
    "|renseignez|confirmez|tapez|avec|fournissez|introduzca|introduce|ingres[ae]|escrib[ae]|confirm[aei]|indicando"
    "|con|inserisc[ai]|insira"
    "|digite|informe|com|vul|voer|met"
)
_OBJECT = rf"(?:{TAG}(?!['’]s)|{_HIDDEN})"
# What is given stands behind the verb, and not behind a word that makes it the one who gets something.
_GIVEN = rf"\s+(?:(?!(?:{_INTO})\b)[^\s.!?]+\s+){{0,8}}?[\"'`*(]{{0,2}}{_OBJECT}"
_ARTICLE = "(?:the|this|following|our|diese|unsere|cette|la)"
_ADDRESS = rf"(?<!\w)(?:{_INTO})\s+(?:{_ARTICLE}\s+[\w\s-]{{0,40}}?)?[\[(<`\"'*]{{0,2}}{TARGET}"
SEND = (
    Order(f"(?:{_GIVE})", rf"{_GIVEN}(?![^.!?\n]{{0,40}}\b(?:link|lien|enlace)s?\b)[^.!?\n]{{0,80}}?{_ADDRESS}"),
    Order(
        f"(?:{_GO}|{_GIVE})",
        rf"\s+[^.!?\n]{{0,80}}?(?:\]\()?(?<![\w.])[(<`\"'*]{{0,2}}{TARGET}[^.!?\n]{{0,100}}?(?<!\w)(?:{_FILL_IN})"
        rf"\s+(?:[^\s.!?]+\s+){{0,6}}?[\"'`*(]{{0,2}}{TAG}",
    ),
)

# --- Reveal what a placeholder stands for -------------------------------------------------------------------

_SHOW = (
    "reveal|print|show|output|display|disclose|expose|leak|dump|recite|repeat|spell out|write out|state|type|tell me"
    "|tell us|give me|give us"
    "|return|list|gib|(?:geb|zeig|nenn|verrat|druck|schreib|offenbar|enthüll)en sie|zeige?|nenne|verrate|drucke"
    "|schreibe?|offenbare|enthülle"
    "|rév[èé]le[zr]?|affiche[zr]?|montre[zr]?|donne[zr]?|imprime[zr]?|indique[zr]?|dévoile[zr]?|écris|écri(?:vez|re)"
    "|revel[ae]r?|muestr[ae]|mostrar|imprim[ae]|imprimir|dime|dígame|dame|deme|indi(?:c|qu)[ae]|escrib[ae]|escribir"
    "|divulg(?:u[ae]|ar|a)"
)
_REAL = (
    r"(?:real|original|actual|true|underlying|hidden|un(?:redacted|masked|censored)|(?:echt|wahr|ursprünglich"
    r"|original|tatsächlich|wirklich"
    r"|verborgen)e[nrsm]?|vraie?s?|véritables?|réel(?:le)?s?|originale?s?|originaux|d['’]origine|en clair|cachée?s?"
    r"|masquée?s?"
    r"|reales|originales|verdader[oa]s?|auténtic[oa]s?|en claro|ocult[oa]s?)"
)
_WHAT = (
    "(?:values?|names?|data|contents?|text|strings?|identit(?:y|ies)|werte?|namen?|inhalte?|daten|identität|valeurs?"
    "|noms?|contenus?|textes?"
    "|données|identités?|valor(?:es)?|nombres?|contenidos?|textos?|datos?|identidad)"
)
_ITSELF = (
    "(?:values?|original[es]?|(?:plain|clear)[- ]?text|meanings?|klartext|original(?:werte?|text|namen?)|klarnamen?)"
)
_OF = (
    "(?:of|behind|under|hidden by|hidden behind|represented by|von|hinter|für|zu|des|der|aller|de|du|del|derrière|pour"
    "|detrás de|para)"
)
_NAMED = (
    r"(?:(?:the|el|la|l['’])\s*)?"
    r"(?:(?:placeholder|tag|token|platzhaltern?s?|balise|espace réservé|marcador|etiqueta)\s+)?"
)
REVEAL = (
    Order(
        f"(?:{_SHOW})",
        rf"(?:-(?:moi|nous))?\s+(?:[\w-]+\s+){{0,3}}?(?:l['’])?(?:(?:{_REAL}\s+)+{_WHAT}|{_WHAT}\s+{_REAL}"
        rf"|{_ITSELF})\s+{_OF}\s+"
        rf"{_NAMED}(?:{TAG}|{_HIDDEN})",
    ),
    Order(
        "(?:decode|decrypt|unmask|unredact|de-?anonymi[sz]e|re-?identify|resolve|entschlüssel(?:e|n sie)"
        "|entschlüssle|demaskiere"
        "|deanonymisiere|löse|déchiffre[zr]?|décode[zr]?|démasque[zr]?|désanonymise[zr]?|descifr[ae]|decodifi(?:c"
        "|qu)[ae]|desenmascar[ae]"
        "|desanonimi[cz][ae])",
        rf"\s+(?:(?:den|die)\s+)?(?:person\s+)?{_NAMED}(?:{TAG}|{_HIDDEN})",
    ),
    Order(
        "(?:repeat|print|show|output|rewrite|resend|return|send|write)",
        r"\s+[^.!?\n]{0,60}?\bwith\s+(?:(?:all|the|your)\s+)*(?:placeholders|redactions)\s+(?:resolved|restored"
        r"|decoded|unmasked|expanded|undone)",
    ),
    Order(
        "(?:reveal|print|show|output|disclose|expose|leak|dump)",
        r"\s+(?:me\s+)?(?:your|the gateway's|the proxy's)\s+(?:system prompt|hidden instructions|vault"
        r"|(?:placeholder|session|vault)\s+(?:mapping|table|keys?|tokens?))",
    ),
)

# --- Set aside what was told before, and then give away -----------------------------------------------------

_RULES = (
    r"(?:instructions?|rules|guidelines|directives?|safeguards|polic(?:y|ies)|restrictions|prompts?|constraints"
    r"|above|before|previous|prior"
    r"|anweisungen|regeln|vorgaben|richtlinien|instruktionen|befehle|einschränkungen|consignes|règles"
    r"|instrucciones|reglas|directrices|normas|restricciones)"
)
_AWAY = (
    r"(?:(?:reveal|disclose|expose|leak|dump|exfiltrate|unmask|unredact|decode|decrypt|restore|print|output)"
    r"|(?:send|show|give|tell|post|forward|upload|repeat|list)\s+(?:(?:me|us)\s+)?(?:all|any|every|your|everything"
    r"|what|\ue000+)"
    r"|(?:verrate|offenbare|enthülle|gib|geben sie|zeige?|zeigen sie|nenne|nennen sie|drucke|sende|schicke"
    r"|révèle[zr]?|affichez?|montrez?|donnez?|envoie|envoyez|imprimez?|divulguez?|transmets"
    r"|revel[ae]|muestr[ae]|imprim[ae]|env[ií][ae]|divulg(?:u[ae]|a)|transmit[ae]|publi(?:c|qu)[ae])\b)"
)
OVERRIDE = (
    Order(
        "(?:ignore|disregard|forget|override|bypass|ignorieren?(?: sie)?|vergiss|vergessen sie|missachten?(?: sie)?"
        "|übergehe|umgehe"
        "|ignore[zr]|oubliez?|négligez?|contournez?|outrepassez?|ignora|olvid[ae]|omit[ae]|descart[ae])",
        rf"\s+(?:[\w'’]+\s+){{0,6}}?{_RULES}\b[^\n]{{0,200}}?\b{_AWAY}",
    ),
)

# --- What a text says that is about such words --------------------------------------------------------------

EXPLAINING = (
    r"prompt[- ]?injection|\binjection\b|\battack|\bjailbreak|\bmalicious|\badversarial|\bphishing|\bexploit"
    r"|\bsuspicious|\bfor example\b"
    r"|\be\.g\.|\bsuch as\b|\bangriff|\bangreifer|\bzum beispiel\b|\bz\. ?b\.|\battaqu|\bpar exemple\b|\bmalveillant"
    r"|\bataque"
    r"|\bpor ejemplo\b|\binyecci|\bmalicios"
)
