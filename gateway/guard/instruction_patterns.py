"""How an order to give something away is worded, in four languages. Data for `instructions`.

An order is a verb and what follows it. Verbs are RE2 expressions, what follows is for Python's `re`; `{TAG}` stands
for a placeholder, `{TARGET}` for an address that leads outside. Everything is matched in any case.
"""

from dataclasses import dataclass

from gateway.guard.untrusted_destinations import PHONE


def _any(*words: str) -> str:
    """One of the expressions, which commas part."""
    return "(?:" + "|".join(word.strip() for each in words for word in each.split(",")) + ")"


@dataclass(frozen=True, slots=True)
class Order:
    """The verb it begins with, and the rest of it."""

    verb: str
    rest: str


TAG = "\ue000+"
_ARTICLE = _any(
    "this, the, following, our, my, diese[nrms]?, die, den, das, unsere[nrms]?, cette, notre, la, le, esta, nuestra, el"
)
TARGET = (
    rf"(?:{_ARTICLE}"
    r"\s+(?:[\w-]+\s+){0,4})?(?:\[[^\]\n]{0,60}\]\(|[<(`\"'*]{1,2})?"
    r"(?P<target>(?:https?|ftp|wss?)://[^\s\"'<>`]+|www\.[^\s\"'<>`]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    rf"|(?:[a-z0-9-]+\.)+[a-z]{{2,24}}(?:/[^\s\"'<>`]*)?|\d{{1,3}}(?:\.\d{{1,3}}){{3}}[^\s\"'<>`]*|{PHONE}|@[\w.]{{3,32}})"
)
# What is given away, with the words before it: "your IBAN [...]", "Anna's account number: [...] and [...]".
_DATA = (
    r"[\w-]*(?:number|code|name|address|mail|phone|iban|bic|card|passw|pin|key|token|secret|credential|account|login|data|detail"
    r"|value|nummer|kennung|adresse|karte|kennwort|schlüssel|konto|daten|numéro|compte|carte|clé|mot de passe"
    r"|identifiant|donnée|número|cuenta|tarjeta|clave|contraseña|correo|teléfono|dato)[\w-]*"
)
_ONE = r"[\"'`*(]{0,2}{TAG}(?!['’]s)[\"'`*)]{0,2}"
_GIVEN = (
    rf"(?:(?:(?:{{TAG}}['’]s|[\w'’-]+)\s+){{0,4}}?{_DATA}:?\s+)?{_ONE}"
    rf"(?:\s*(?:,|and|und|et|y|&)\s*(?:[\w-]+\s+){{0,3}}?{_ONE}){{0,9}}"
)
_SOON = r"(?:\s+[\w-]+){0,3}?"

# --- Where an order can begin: a line, a sentence, a quotation, or behind a word that leads to it -------------------

_WHO = _any("you, assistant, agent, model, ai, client")
_MUST = _any("must, should, shall, will, have to, need to")
_LEADING = _any(
    "please, now, then, next, also, and, kindly, immediately, just, simply, first, finally",
    "(?:make|be) sure to, remember to, bitte, nun, jetzt, dann, und, sofort",
    "veuillez, maintenant, puis, et, ensuite, s'il te plaît, s'il vous plaît",
    "ahora, luego, después, y, por favor, debes, debe, tienes que",
)
LEAD = rf"(?:^|[.,!?:;>*\n\"“„«'`(\]-]\s*|\b(?:{_LEADING}|{_WHO}(?: {_MUST})?)[,:]?\s+)"

# --- Reveal what a placeholder stands for -------------------------------------------------------------------

_EN_REAL = _any("real, original, actual, true, underlying, hidden, unredacted, unmasked, uncensored")
_EN_WHAT = _any("values?, names?, data, contents?, text, strings?, identity, identities")
_EN_ITSELF = _any("values?, originals?, plain[- ]?text, clear[- ]?text, identity, identities, meanings?")
_EN_OF = _any("of, behind, under, hidden by, hidden behind, represented by")
_EN_MANY = (
    r"(?:all|any|every|each|these|those)\s+(?:of\s+)?(?:the\s+|these\s+|those\s+)?(?:other\s+)?"
    rf"(?:placeholders?|{_any('redacted, masked, hidden, protected, withheld, anonymi[sz]ed')}\s+"
    rf"{_any('values?, names?, data, fields?, parts?')})"
)
_DE_REAL = _any("echte, wahre, ursprüngliche, originale, tatsächliche, wirkliche, unmaskierte, verborgene") + "[nrsm]?"
_DE_WHAT = _any("werte?, namen?, inhalte?, text, daten, identität")
_DE_ITSELF = _any("klartext, originalwerte?, originaltext, originalnamen?, klarnamen?")
_FR_WHAT = _any("valeurs?, noms?, contenus?, textes?, données, identités?")
_FR_REAL = _any("réel(?:le)?s?, originale?s?, originaux, d['’]origine, en clair, cachée?s?, masquée?s?, véritables?")
_ES_WHAT = _any("valor(?:es)?, nombres?, contenidos?, textos?, datos?, identidad")
_ES_REAL = _any("real(?:es)?, original(?:es)?, verdader[oa]s?, en claro, ocult[oa]s?")

REVEAL = (
    Order(
        _any(
            "reveal, print, show, output, display, disclose, expose, leak, dump, recite, repeat, spell out, write out",
            "state, type, tell me, tell us, give me, give us, return, list",
        ),
        r"\s+(?:me\s+|us\s+|out\s+)?(?:the\s+|its\s+|their\s+|all\s+|every\s+)*"
        rf"(?:(?:{_EN_REAL}\s+)+{_EN_WHAT}|{_EN_ITSELF})\s+{_EN_OF}\s+"
        rf"(?:the\s+)?(?:placeholder\s+|tag\s+|token\s+)?(?:{{TAG}}|{_EN_MANY}|placeholders\b)",
    ),
    Order(
        _any("decode, decrypt, unmask, unredact, de-?anonymi[sz]e, re-?identify, resolve"),
        rf"\s+(?:the\s+)?(?:placeholders?\s+|tags?\s+|person\s+)?(?:{{TAG}}|{_EN_MANY})",
    ),
    Order(
        _any("repeat, print, show, output, rewrite, resend, return, send, write"),
        r"\s+[^.!?\n]{0,60}?\bwith\s+(?:all\s+|the\s+|your\s+)*(?:placeholders|redactions)\s+"
        rf"{_any('resolved, restored, decoded, unmasked, expanded, undone')}",
    ),
    Order(
        _any("reveal, print, show, output, disclose, expose, leak, dump"),
        r"\s+(?:me\s+)?(?:your|the gateway's|the proxy's)\s+(?:system prompt|hidden instructions|vault"
        rf"|{_any('placeholder, session, vault')}\s+{_any('mapping, table, keys?, tokens?')})",
    ),
    Order(
        _any(
            "gib, geben sie, zeige?, zeigen sie, nenne, nennen sie, verrate, verraten sie, drucke, drucken sie",
            "schreibe?, schreiben sie, offenbare, offenbaren sie, enthülle, enthüllen sie",
        ),
        rf"\s+(?:mir\s+|uns\s+)?(?:den|die|das|alle)\s+(?:{_DE_REAL}\s+{_DE_WHAT}|{_DE_ITSELF})\s+"
        rf"{_any('von, hinter, für, zu, des, der, aller')}\s+(?:platzhalters?\s+|platzhaltern\s+)?"
        r"(?:{TAG}|(?:aller?\s+|den\s+)?platzhaltern?)",
    ),
    Order(
        _any("entschlüssle, entschlüssele, entschlüsseln sie, demaskiere, deanonymisiere, löse"),
        r"\s+(?:den\s+|die\s+)?(?:platzhalter\s+)?{TAG}",
    ),
    Order(
        _any(
            "révèle, révéle[zr], affiche[zr]?, montre[zr]?, donne[zr]?, imprime[zr]?, indique[zr]?, dévoile[zr]?",
            "écris, écrivez, écrire",
        ),
        rf"(?:-(?:moi|nous))?\s+(?:la|le|les|l['’])\s*"
        rf"(?:(?:vraie?s?|véritables?)\s+{_FR_WHAT}|{_FR_WHAT}\s+{_FR_REAL}|original)\s+"
        rf"{_any('de, du, des, derrière, pour')}\s+(?:la balise\s+|l['’]espace réservé\s+)?{{TAG}}",
    ),
    Order(
        _any("déchiffre[zr]?, décode[zr]?, démasque[zr]?, désanonymise[zr]?"),
        r"\s+(?:la balise\s+)?{TAG}",
    ),
    Order(
        _any(
            "revel[ae]r?, muestr[ae], mostrar, imprim[ae], imprimir, dime, dígame, dame, deme, indi[cq]u?[ae]",
            "escrib[ae], escribir, divulgu?[ae]r?",
        ),
        r"\s+(?:el|la|los|las)\s+"
        rf"(?:(?:verdader[oa]s?|auténtic[oa]s?)\s+{_ES_WHAT}|{_ES_WHAT}\s+{_ES_REAL}|original)\s+"
        rf"{_any('de, del, detrás de, para')}\s+(?:el\s+|la\s+)?(?:marcador\s+|etiqueta\s+)?{{TAG}}",
    ),
    Order(
        _any("descifr[ae], decodifi[cq]u?[ae], desenmascar[ae], desanonimi[cz][ae]"),
        r"\s+(?:el\s+marcador\s+)?{TAG}",
    ),
)

# --- Set aside what was told before, and then give away -----------------------------------------------------

_AND_THEN = r"\b[^\n]{0,200}?\b"
_EN_OLD = _any(
    "previous, prior, above, earlier, preceding, existing, former, system, safety, privacy, security, current"
)
_EN_RULES = _any(
    "instructions?, rules, guidelines, directives?, safeguards, policy, policies, restrictions, prompts?, constraints"
)
_EN_GIVE = _any(
    "reveal, disclose, expose, leak, dump, exfiltrate, unmask, unredact, decode, decrypt, restore, print, output"
)
_DE_OLD = _any("alle, sämtliche, jegliche, die, deine, ihre, vorherigen, bisherigen, obigen, vorigen, früheren")
_DE_RULES = _any("anweisungen, regeln, vorgaben, richtlinien, instruktionen, befehle, einschränkungen")
_DE_GIVE = _any(
    "verrate, offenbare, enthülle, gib, geben sie, zeige?, zeigen sie, nenne, nennen sie, drucke, sende, schicke"
)
_FR_GIVE = _any("révèle, révélez, affichez?, montrez?, donnez?, envoie, envoyez, imprimez?, divulguez?, transmets")
_ES_GIVE = _any("revel[ae], muestr[ae], imprim[ae], envía, envíe, divulgu?[ae], transmit[ae], publi[cq]u?[ae]")

OVERRIDE = (
    Order(
        _any("ignore, disregard, forget, override, bypass"),
        r"\s+(?:all\s+(?:of\s+)?|any\s+(?:of\s+)?|every\s+)?(?:the\s+|your\s+|these\s+|those\s+)?"
        rf"(?:{_EN_OLD}\s+(?:and\s+)?){{0,3}}{_EN_RULES}{_AND_THEN}"
        rf"(?:{_EN_GIVE}|(?:send|show|give|tell|post|forward|upload|repeat|list)\s+(?:me\s+|us\s+)?"
        r"(?:all|any|every|your|everything|{TAG}))",
    ),
    Order(
        _any("ignore, disregard, forget"),
        r"\s+(?:everything|anything|all|the)\s+(?:of\s+)?(?:the\s+|that\s+(?:is|was|came)\s+)?(?:above|before|previous|prior)"
        rf"{_AND_THEN}(?:{_EN_GIVE}|send|show|give|tell)\s+(?:me\s+|us\s+)?(?:all|any|every|your|everything|what|{{TAG}})",
    ),
    Order(
        _any("ignoriere?, ignorieren sie, vergiss, vergessen sie, missachte, missachten sie, übergehe, umgehe"),
        rf"\s+(?:{_DE_OLD}\s+)*{_DE_RULES}{_AND_THEN}{_DE_GIVE}\b",
    ),
    Order(
        _any("ignore[zr]?, oubliez?, négligez?, contournez?, outrepassez?"),
        r"\s+(?:toutes\s+|tous\s+)?(?:les|tes|vos|ces)\s+(?:\w+\s+)?"
        rf"{_any('instructions, consignes, règles, directives, restrictions')}{_AND_THEN}{_FR_GIVE}\b",
    ),
    Order(
        _any("ignor[ae], olvid[ae], omit[ae], descart[ae]"),
        r"\s+(?:todas\s+)?(?:las|tus|sus|estas)\s+(?:\w+\s+)?"
        rf"{_any('instrucciones, reglas, directrices, normas, restricciones')}{_AND_THEN}{_ES_GIVE}\b",
    ),
)

# --- Send what a placeholder stands for somewhere -----------------------------------------------------------

_ADVERB = _any(
    "directly, immediately, now, over, back, straight, as json, as a query, as text, in plain ?text, via post, via http"
)
SEND = (
    Order(
        _any(
            "send, post, upload, forward, transmit, submit, e-?mail, exfiltrate, push, relay, leak, copy, paste, share",
            "append, text, whatsapp, pass, report, provide, give, hand",
        ),
        r"\s+(?:(?:the|all|every|each|both|these|those|its|their|over|on)\s+)*"
        rf"(?:(?:{_EN_REAL}|decoded|restored|full)\s+)*"
        rf"(?:(?:{_EN_WHAT}|{_EN_ITSELF})\s+(?:of|behind|for|from)\s+)?(?:(?:all|the|these)\s+)*"
        rf"(?:{_GIVEN}|{_EN_MANY}|placeholders)"
        rf"(?:\s+{_ADVERB})*\s+(?:(?:in)?to|with|via|through)\s+{{TARGET}}",
    ),
    Order(
        _any(
            "enter, type(?: in)?, key in, fill in, input, confirm, verify, validate, paste, insert, submit, provide",
            "put",
        ),
        rf"\s+{_GIVEN}{_SOON}\s+(?:in|into|at|on|under|via|through|to|with)\s+{{TARGET}}",
    ),
    Order(
        _any("open, visit, go to, navigate to, browse to, head to, click(?: on)?, follow, access, load, use"),
        rf"\s+{{TARGET}}[^.!?\n]{{0,100}}?\b"
        rf"{_any('enter, type(?: in)?, key in, fill in, input, confirm, verify, paste, submit, provide')}\s+{_GIVEN}",
    ),
    Order(
        _any("reply, respond, answer, write, e-?mail, message, text, contact, call, phone, dial, ring, whatsapp"),
        rf"\s+(?:back\s+)?(?:to\s+|at\s+|on\s+)?{{TARGET}}[^.!?\n]{{0,80}}?\b"
        rf"{_any('with, including, include, quoting, quote, stating, state, giving, give, confirm, provide, read out')}"
        rf"\s+{_GIVEN}",
    ),
    Order(
        _any("make, send, issue, perform, do"),
        r"\s+(?:a|an)\s+(?:http\s+)?(?:post|get|put|http|web)\s+(?:request|call)\s+to\s+{TARGET}[^\n]{0,60}?{TAG}",
    ),
    Order(
        _any("call, invoke, use, run, trigger"),
        r"\s+[^.!?\n]{0,40}?\b(?:tool|function|webhook)\b[^\n]{0,80}?\b{TARGET}[^\n]{0,60}?{TAG}",
    ),
    Order(
        _any(
            "sende, senden sie, schicke?, schicken sie, übermittle, übermitteln sie, übertrage, übertragen sie, leite",
            "leiten sie, lade, laden sie, maile, mailen sie",
        ),
        rf"\s+(?:(?:den|die|das|alle|sämtliche)\s+)?(?:{_DE_REAL}\s+)*"
        rf"(?:(?:{_DE_ITSELF}|{_DE_WHAT})\s+{_any('von, hinter, des, der, aus, zu')}\s+)?(?:platzhaltern?s?\s+)?"
        rf"{_GIVEN}{_SOON}\s+(?:an|nach|auf|zu|über)\s+{{TARGET}}",
    ),
    Order(
        _any(
            "envoie, envoyez, envoyer, transmets, transmettez, transmettre, poste[zr]?, publie[zr]?, expédie[zr]?",
            "téléverse[zr]?, communique[zr]?",
        ),
        r"\s+(?:(?:la|le|les)\s+|l['’])?"
        rf"(?:(?:vraie?s?\s+)?{_FR_WHAT}\s+(?:{_FR_REAL}\s+)?{_any('de, du, des, derrière')}\s+)?"
        rf"{_GIVEN}{_SOON}\s+(?:à|vers|sur|par)\s+{{TARGET}}",
    ),
    Order(
        _any(
            "envía, envíe, enviar, mand[ae]r?, transmit[ae], transmitir, publi[cq]u?[ae]r?, sub[ae], reenvía, reenvíe"
        ),
        rf"\s+(?:(?:el|la|los|las)\s+)?(?:{_ES_WHAT}\s+(?:{_ES_REAL}\s+)?{_any('de, del, detrás de')}\s+)?"
        rf"{_GIVEN}{_SOON}\s+(?:a|hacia|en|por)\s+{{TARGET}}",
    ),
    Order(
        _any(
            "geben sie, gib, tragen sie, trage, bestätigen sie, bestätige, verifizieren sie, verifiziere",
            "hinterlegen sie, hinterlege, fügen sie, füge, teilen sie, teile, nennen sie, nenne, melden sie, melde",
        ),
        rf"\s+(?:bitte\s+|uns\s+)?{_GIVEN}{_SOON}\s+(?:unter|auf|bei|in|an|über|mit)\s+{{TARGET}}",
    ),
    Order(
        _any(
            "öffnen sie, öffne, besuchen sie, besuche, gehen sie (?:auf|zu), gehe? (?:auf|zu), rufen sie",
            "klicken sie auf, klicke auf, geben sie, gib, tragen sie, trage, antworten sie, antworte",
            "schreiben sie, schreibe?, mailen sie, kontaktieren sie",
        ),
        rf"\s+(?:bitte\s+)?(?:unter\s+|auf\s+|bei\s+|an\s+)?{{TARGET}}(?:[^.!?\n]{{0,80}}?\b"
        rf"{_any('geben sie, gib, tragen sie, trage, bestätigen sie, bestätige, mit, nennen sie, nenne')})?"
        rf"\s+{_GIVEN}",
    ),
    Order(
        _any(
            "saisir, saisissez, saisis, entrez, entrer, indiquez, indiquer, renseignez, renseigner, confirmez",
            "confirmer, tapez, validez, vérifiez, fournissez, communiquez, insérez",
        ),
        rf"\s+{_GIVEN}{_SOON}\s+(?:à|vers|sur|dans|via|auprès de)\s+{{TARGET}}",
    ),
    Order(
        _any(
            "ouvrez, ouvrir, visitez, allez sur, rendez-vous sur, cliquez sur, répondez, répondre, écrivez, contactez",
            "contacter",
        ),
        rf"\s+(?:à\s+)?{{TARGET}}[^.!?\n]{{0,80}}?\b"
        rf"{_any('saisissez, saisir, entrez, indiquez, indiquant, renseignez, confirmez, tapez, avec, fournissez')}"
        rf"\s+{_GIVEN}",
    ),
    Order(
        _any(
            "introduzca, introduce, introducir, ingrese, ingresa, escriba, escribe, confirme, confirma",
            "confirmar, verifique, verifica, valide, indique, indica, proporcione, proporciona, facilite",
            "pegue, pega, comparta",
        ),
        rf"\s+{_GIVEN}{_SOON}\s+(?:a|en|hacia|vía|por|con)\s+{{TARGET}}",
    ),
    Order(
        _any(
            "abra, abre, visite, visita, vaya a, ve a, acceda a, accede a, entre en, entra en, haga clic en",
            "responda, responde, escriba, escribe, contacte, contacta",
        ),
        rf"\s+(?:a\s+)?{{TARGET}}[^.!?\n]{{0,80}}?\b"
        rf"{_any('introduzca, introduce, ingrese, ingresa, escriba, escribe, confirme, confirma, indicando, con')}"
        rf"\s+{_GIVEN}",
    ),
)

# --- What a text says that is about such words --------------------------------------------------------------

EXPLAINING = "|".join(
    (
        r"prompt[- ]?injection|\binjection\b|\battack|\bjailbreak|\bmalicious|\badversarial|\bphishing|\bexploit",
        r"\bsuspicious|\bfor example\b|\be\.g\.|\bsuch as\b",
        r"\bangriff|\bangreifer|\bzum beispiel\b|\bz\. ?b\.",
        r"\battaqu|\bpar exemple\b|\bmalveillant",
        r"\bataque|\bpor ejemplo\b|\binyecci|\bmalicios",
    )
)
