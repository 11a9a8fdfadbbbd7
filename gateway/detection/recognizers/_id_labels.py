"""Labels of identifiers in English, German, French, Spanish, Italian, Portuguese, Dutch, the Nordic languages, Polish
and Turkish.

The tables list the numbered things for each type. `LABELS` combines them with the words for "number" as each language
does: "customer no.", "Kundennummer", "n° de client". RE2 syntax, any case.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.detection.recognizer import EntityType

MEDICAL_RECORD_NUMBER = EntityType("MEDICAL_RECORD_NUMBER", "health", "The number of a patient or a medical record.")
HEALTH_INSURANCE_NUMBER = EntityType(
    "HEALTH_INSURANCE_NUMBER", "health", "The number of a person with a health insurer."
)
INSURANCE_NUMBER = EntityType("INSURANCE_NUMBER", "account", "The number of an insurance policy.")
ACCOUNT_NUMBER = EntityType("ACCOUNT_NUMBER", "account", "The number of an account, a loan or a subscription.")
CUSTOMER_ID = EntityType("CUSTOMER_ID", "account", "The number of a customer, client or supplier.")
MEMBERSHIP_ID = EntityType("MEMBERSHIP_ID", "account", "The number of a member or of a loyalty or library card.")
EMPLOYEE_ID = EntityType("EMPLOYEE_ID", "account", "The number of an employee.")
STUDENT_ID = EntityType("STUDENT_ID", "account", "The number of a student, pupil or candidate.")
CASE_NUMBER = EntityType("CASE_NUMBER", "account", "The number of a case, file, claim or application.")
CONTRACT_NUMBER = EntityType("CONTRACT_NUMBER", "account", "The number of a contract.")
BOOKING_REFERENCE = EntityType("BOOKING_REFERENCE", "account", "The code of a booking or reservation.")
ORDER_NUMBER = EntityType(
    "ORDER_NUMBER", "account", "The number of an order, invoice, ticket or shipment; a candidate."
)
ID_NUMBER = EntityType("ID_NUMBER", "government_id", "The number of an identity document.")
REFERENCE_NUMBER = EntityType("REFERENCE_NUMBER", "account", "A number that the text calls a reference.")


_ENGLISH = (
    r"(?:id(?:entifier|entification)?(?:[ _-]?(?:number|no\b|nr\b|num\b|code|#))?|number|no\b|nr\b|num\b|#|№|code"
    r"|ref(?:erence)?(?:[ _-]?(?:number|no\b|nr\b|id|code))?)"
)
_GERMAN = r"(?:nummern?|nr\b|id\b|kennung|zeichen|kennzahl|code|referenz|nummer[ -]id)"
_DUTCH = r"(?:nummer|nr\b|id\b|kenmerk|code)"
_NORDIC = r"(?:nummer|nr\b|id\b)"
_POLISH = r"(?:nr\b\.?|numer|sygn(?:atura|\.)|id\b)"
_TURKISH = r"(?:no\b|numaras[ıi]|kodu)"
_ROMANCE = (
    r"(?:n[°ºo]\.?|n\.[°ºo]?|n[uú]m(?:[eé]ro)?\b\.?|№|id\b|identifiants?|identificador|identificativo|c[oóò]dig[oe]"
    r"|codice|code|r[eé]f(?:[eé]rence)?\b\.?|refer[eê]ncia|riferimento|matricule|matricola)"
)
_OF = (
    r"(?: ?(?:de l'|de la|del|de los|de las|della|dell'|dello|dei|degli|delle|du|des|dos|das|do|da|de|di|d')[ ]?"
    r"|[ _-])"
)


@dataclass(frozen=True, slots=True)
class Label:
    """The label of a value of `type`.

    Lists the numbered thing in groups that combine differently with the word for "number"; `alone` needs none. `score`
    applies to a value after a colon or "is".
    """

    type: EntityType
    score: float
    english: str = ""
    german: str = ""
    dutch: str = ""
    romance: str = ""
    nordic: str = ""
    polish: str = ""
    turkish: str = ""
    alone: str = ""
    named: str = ""
    """The thing itself, followed by a sign or "is" and a number: "Passport: X1234567"."""


def thing_expression(labels: Sequence[Label]) -> str:
    """Returns one expression for the things themselves."""
    return "|".join(label.named for label in labels if label.named)


def label_expression(labels: Sequence[Label]) -> str:
    """Returns one expression for all of `labels`."""

    def of(language: str) -> str:
        return "|".join(filter(None, (getattr(label, language) for label in labels)))

    joined = (
        (of("english"), rf"(?:%s)(?:'s)?[ _-]?{_ENGLISH}"),
        (of("german"), rf"(?:%s)[ _-]?{_GERMAN}"),
        (of("dutch"), rf"(?:%s)[ _-]?{_DUTCH}"),
        (of("romance"), rf"{_ROMANCE}{_OF}(?:%s)|(?:%s)[ _-]?{_ROMANCE}"),
        (of("nordic"), rf"(?:%s)[ _-]?{_NORDIC}"),
        (of("polish"), rf"{_POLISH} (?:%s)|(?:%s) {_POLISH}"),
        (of("turkish"), rf"(?:%s)[ _-]?{_TURKISH}"),
        (of("alone"), "(?:%s)"),
    )
    return "|".join(form.replace("%s", nouns) for nouns, form in joined if nouns)


LABELS = (
    Label(
        MEDICAL_RECORD_NUMBER,
        0.8,
        nordic="journal|patient",
        polish="pacjenta|karty|historii choroby",
        turkish="hasta|protokol|dosya",
        english="(?:electronic )?(?:medical|health|hospital|patient)[ _-]?(?:record|chart|file)"
        "|patient(?:[ _-]account)?"
        "|chart|hosp(?:ital)?|encounter|admission|specimen|accession|prescription|rx",
        german="patienten|krankenakten?|krankenhaus|behandlungs?|aufnahme|rezept",
        dutch="pati[eë]nt(?:en)?|ziekenhuis|opname",
        romance="dossier m[eé]dical|dossier patient|patiente?|s[eé]jour|ordonnance|historia cl[ií]nica"
        "|historial cl[ií]nico"
        "|historial|paciente|expediente m[eé]dico|receta|cartella clinica|paziente|ricovero|prontu[aá]rio"
        "|processo cl[ií]nico"
        "|ficha m[eé]dica",
        alone=r"\bmrn\b|\bemrn\b|\bnhc\b|\bipp\b",
        named="medical record|patient record|historia cl[ií]nica|cartella clinica|prontu[aá]rio",
    ),
    Label(
        HEALTH_INSURANCE_NUMBER,
        0.8,
        nordic="sygesikrings",
        polish="ubezpieczonego",
        english="health[ _-]?(?:insurance|plan|card)(?:[ _-](?:beneficiary|member|subscriber|policy))?|medicare"
        "|medicaid"
        "|(?:health[ _-]plan |plan |insurance )?beneficiary|(?:plan|insurance)[ _-](?:member|subscriber)",
        german="krankenversicherungs|krankenversicherten|krankenkassen|versicherten|gesundheitskarten",
        dutch="zorgverzekering(?:s)?|zorgverzekerden|verzekerden|zorgpas",
        romance="assur[eé]e?(?: social)?|carte vitale|mutuelle|tarjeta sanitaria|seguro m[eé]dico"
        "|seguro de salud|asegurado"
        "|tessera sanitaria|assicurato|cart[aã]o (?:de sa[uú]de|nacional de sa[uú]de)|plano de sa[uú]de"
        "|utente(?: de sa[uú]de)?",
        alone=r"\bkvnr\b",
        named="health insurance|medicare|medicaid|health card|krankenkasse|krankenversicherung|mutuelle"
        "|carte vitale|tarjeta sanitaria|tessera sanitaria|zorgverzekering",
    ),
    Label(
        INSURANCE_NUMBER,
        0.75,
        nordic="f(?:ö|o)rs[aä]krings|forsikrings|police",
        polish="polisy|ubezpieczenia",
        turkish="poliçe|sigorta",
        english="(?:insurance )?polic(?:y|yholder)|(?:car|home|life|travel|auto"
        "|vehicle )?insurance(?:[ _-](?:policy|card|certificate))?",
        german="versicherungs(?:schein|police|vertrags)?|policen?",
        dutch="polis|verzekering(?:s)?",
        romance="police|police d'assurance|contrat d'assurance|assurance|p[oó]liza|seguro|polizza|assicurazione"
        "|ap[oó]lice",
        alone=r"\bversicherungsschein\b",
        named="(?:insurance )?policy|versicherung(?:sschein)?|police|p[oó]liza|polizza|ap[oó]lice|polis",
    ),
    Label(
        STUDENT_ID,
        0.75,
        nordic="elev|student",
        polish="albumu|ucznia|legitymacji",
        turkish="renci",
        english="student|pupil|enrol+ment|matriculation|applicant|candidate|registrant|alumni|examinee",
        german="matrikel|studenten|studierenden|sch[uü]ler|pr[uü]flings|bewerber|teilnehmer|immatrikulations",
        dutch="student(?:en)?|leerling(?:en)?|kandidaat|deelnemer(?:s)?",
        romance="[eé]tudiante?|[eé]l[eè]ve|candidate?|inscription|estudiante|alumn[oa]|matr[ií]cula|candidat[oa]"
        "|studente"
        "|alunn[oa]|iscrizione|estudante|alun[oa]|inscri[cç][aã]o",
        alone=r"\bstudienummer\b",
        named="student|matrikel|[eé]tudiant|estudiante|studente|estudante",
    ),
    Label(
        EMPLOYEE_ID,
        0.75,
        nordic="anst[aä]llnings|ansatt|medarbejder|l[oø]nn?",
        polish="pracownika|ewidencyjny",
        turkish="sicil|personel",
        english="employee|emp|staff|personnel|payroll|badge|contractor|officer|crew",
        german=r"pers\.|personal|mitarbeiter|angestellten|dienst(?:ausweis)?|beamten|lohn",
        dutch="personeels?|medewerkers?|werknemers?",
        romance="employ[eé]e?|salari[eé]e?|personnel|badge|empleado|trabajador|n[oó]mina|legajo|funcionari[oa]"
        "|dipendente|badge|funcion[aá]ri[oa]|empregado|colaborador|trabalhador",
        alone=r"\bmatricule\b|\bmatricola\b|\blegajo\b|\bstammnummer\b",
        named="employee|badge|mitarbeiter|employ[eé]|empleado|dipendente|funcion[aá]rio|medewerker",
    ),
    Label(
        MEMBERSHIP_ID,
        0.7,
        nordic="medlems|l[aå]ne(?:r|kort)",
        polish="członkowski|karty klienta",
        turkish="yelik",
        english="members?(?:hip)?(?:[ _-]card)?|loyalty(?:[ _-](?:card|program))?|frequent[ _-]?flyer"
        "|library[ _-]card|rewards?(?:[ _-]card)?"
        "|club[ _-]card|subscriber|donor|volunteer|participant",
        german="mitglieds?(?:ausweis)?|bonus(?:karten)?|vielflieger|kundenkarten|bibliotheksausweis|spender|probanden",
        dutch="lid(?:maatschaps?)?|klantenkaart|bonuskaart|bibliotheekpas|donateurs?",
        romance="adh[eé]rente?|membre|soci[eé]taire|carte de fid[eé]lit[eé]|carte de membre|licenci[eé]e?"
        "|soci[oa]|miembro"
        "|afiliad[oa]|afiliaci[oó]n|tarjeta de (?:fidelidad|socio)|tessera(?: socio)?|membro|carta fedelt[aà]"
        "|s[oó]ci[oa]|associad[oa]|cart[aã]o de fidelidade",
        named="membership|member|loyalty card|library card|frequent flyer|mitglied|adh[eé]rent|socio|s[oó]cio",
    ),
    Label(
        CUSTOMER_ID,
        0.75,
        nordic="kund(?:e)?",
        polish="klienta|odbiorcy|kontrahenta",
        turkish="müşteri|abone",
        english="customer|client|cust|consumer|vendor|supplier|merchant|guest|payer|payee|creditor|debtor"
        "|tax ?payer|policy ?owner",
        german="kunden|kundin|debitoren|kreditoren|lieferanten|gesch[aä]ftspartner|g[aä]ste|mandanten|gl[aä]ubiger",
        dutch="klant(?:en)?|debiteur(?:en)?|relatie|leveranciers?|cliënt(?:en)?|client(?:en)?",
        romance="cliente?|compte client|fournisseur|usager|allocataire|proveedor|abonad[oa]|titular|fornitore"
        "|utente|fornecedor|utilizador|contribuinte",
        alone=r"\bkdnr\b|\bkd\.?[ -]?nr\b",
        named="customer|client|kunde|kundin|cliente|klant",
    ),
    Label(
        CONTRACT_NUMBER,
        0.7,
        nordic="avtals?|aftale|kontrakts?",
        polish="umowy",
        turkish="sözleşme",
        english="contract|agreement|lease|tenancy",
        german="vertrags?|mietvertrags?|leasing",
        dutch="contracts?|overeenkomst|huurcontract",
        romance="contrat|bail|contrato|contratto|ades[aã]o",
        named="contract|vertrag(?:s|es)?|contrat|contrato|contratto",
    ),
    Label(
        BOOKING_REFERENCE,
        0.7,
        nordic="boknings|booking|bestillings",
        polish="rezerwacji",
        turkish="rezervasyon|pnr",
        english="booking|reservation|confirmation|itinerary|e-?ticket",
        german="buchungs|reservierungs|best[aä]tigungs",
        dutch="boekings?|reserverings?|bevestigings?",
        romance="r[eé]servation|confirmation|reserva|localizador|confirmaci[oó]n|prenotazione|conferma"
        "|confirma[cç][aã]o",
        alone=r"\bpnr\b|\brecord locator\b|\blocalizador\b",
        named="booking|e-?ticket|reservation|confirmation|buchung|r[eé]servation|reserva|prenotazione|boeking",
    ),
    Label(
        CASE_NUMBER,
        0.7,
        nordic="sags?|saks|a?rende|diarie|m[aå]l|skade",
        polish="sprawy|szkody|reklamacji|reklamacja|sprawa|szkoda|wniosku|zgłoszenia|akt",
        turkish="dosya|esas|başvuru|hasar|şikayet|talep",
        english="(?:court |police |legal |support )?case|file|docket|(?:insurance )?claim|incident(?: report)?"
        "|complaint|matter|police report|report|petition"
        "|application|permit|inquiry|enquiry|warrant|citation",
        german="akten|gesch[aä]fts|vorgangs|fall|schaden?s?(?:fall)?|antrags|verfahrens|beschwerde|anzeigen?|unser|ihr",
        dutch="zaak|dossier|schade(?:claim)?|claim|aanvraag|klacht|proces",
        romance="dossier|affaire|sinistre|plainte|demande|proc[eé]dure|expediente|caso|causa|denuncia|siniestro"
        "|solicitud|tr[aá]mite"
        "|pratica|fascicolo|sinistro|procedimento|protocollo|domanda|processo|protocolo|ocorr[eê]ncia|pedido de apoio",
        alone=r"\bakte\b|\baktenz(?:eichen\b|\.)|\baz\.|\bgesch(?:ä|ae)ftszeichen\b|\bdossier\b|\bexpediente\b|\bpratica\b"
        r"|\bprotocollo\b",
        named="(?:court |support )?case|(?:insurance )?claim|docket|(?:loan |planning )?application|petition|permit"
        "|vorgang|schaden|sinistre|r[eé]c[eé]piss[eé]|siniestro|autos|procedimiento|expediente|sinistro"
        "|boletim de ocorr[eê]ncia|caso|zaak|sag|sak",
    ),
    Label(
        ID_NUMBER,
        0.7,
        english="(?:national|citizen|resident|voter|military|government|personal|state|alien"
        "|photo)[ _-]?(?:id(?:entity|entification)?|registration|residence)?"
        "(?:[ _-]card)?|id[ _-]?card|identity(?:[ _-](?:card|document))?|identification(?:[ _-]card)?|passport"
        "|visa|green card|residence permit|work permit"
        "|driver'?s?'?[ _-]?licen[cs]e|driving[ _-]licen[cs]e|(?:professional |medical |nursing )?licen[cs]e"
        "|(?:birth |marriage |death )?certificate"
        "|registration|tax[ _-]?payer(?:[ _-]id(?:entification)?)?|tax[ _-]id(?:entification)?"
        "|social[ _-](?:security|insurance)|national insurance",
        german="(?:personal)?ausweis|reisepass|pass|f[uü]hrerschein|aufenthaltstitel|identifikations?"
        "|sozialversicherungs|rentenversicherungs"
        "|steuer(?:identifikations|liche identifikations)?|approbations|lizenz|zertifikats|urkunden"
        "|registrierungs|melde",
        dutch="identiteitskaart|identiteits?(?:bewijs)?|id-?kaart|paspoort|rijbewijs|burgerservice|document"
        "|vreemdelingen|verblijfs",
        romance="carte (?:nationale )?d'identit[eé]|pi[eè]ce d'identit[eé]|passeport|permis(?: de conduire)?"
        "|titre de s[eé]jour|s[eé]curit[eé] sociale"
        "|identit[eé]|fiscal|identidad|documento(?: de identidad)?|c[eé]dula|pasaporte|licencia(?: de conducir)?"
        "|permiso(?: de conducir)?|carn[eé](?: de (?:identidad|conducir))?"
        "|seguridad social|identificaci[oó]n(?: fiscal)?|carta d'identit[aà]|passaporto|patente(?: di guida)?"
        "|permesso(?: di soggiorno)?|documento(?: d'identit[aà])?"
        "|identidade|cart[aã]o de cidad[aã]o|bilhete de identidade|passaporte|carta de condu[cç][aã]o"
        "|identifica[cç][aã]o(?: fiscal)?|seguran[cç]a social|registro geral",
        alone=r"\bid number\b|\bid no\b|\ba-number\b|\bni[ _-]?(?:number|no\b)|\bnino\b"
        r"|\btax[ _-]?(?:number|no\b|ref(?:erence)?)",
        named="passport|driver'?s?'?[ _-]?licen[cs]e|driving[ _-]licen[cs]e|(?:national |identity |id )card"
        "|national[ _-]id|voter[ _-]id|residence permit|tax[ _-]id|social[ _-]security|social insurance"
        "|national insurance|personalausweis|ausweis|reisepass|f[uü]hrerschein|aufenthaltstitel|steuer-?id"
        "|passeport|permis de conduire|carte d'identit[eé]|titre de s[eé]jour|pasaporte|carn[eé] de conducir"
        "|permiso de conducir|licencia de conducir|dni|nie|c[eé]dula|passaporto|patente(?: di guida)?"
        "|carta d'identit[aà]|codice fiscale|passaporte|carta de condu[cç][aã]o|cart[aã]o de cidad[aã]o|cnh|rg"
        "|cpf|paspoort|rijbewijs|identiteitskaart|bsn",
    ),
    Label(
        ACCOUNT_NUMBER,
        0.7,
        nordic="konto|l[aå]n[es]?",
        polish="rachunku|konta|licznika",
        turkish="hesap|tesisat",
        english="(?:bank |billing |savings |checking |utility |online |user )?(?:account|acct|a/c)|loan|mortgage"
        "|meter|subscription|portfolio|brokerage|deposit|device|pension|annuity|council tax|superannuation",
        german="konto|darlehens?|kredit|depot|z[aä]hler|abo(?:nnement)?s?|mandats|kundenkonto|anschluss",
        dutch="rekening|lening|hypotheek|abonnements?|meter|aansluitings?",
        romance="compte|pr[eê]t|abonn[eé]e?|abonnement|cuenta|pr[eé]stamo|suministro|contador"
        "|conto(?: corrente)?|prestito|mutuo|abbonamento|utenza|contatore"
        "|conta(?: corrente)?|empr[eé]stimo|assinatura|instala[cç][aã]o",
        named="(?:bank |savings |checking )?(?:account|acct)|loan|mortgage|konto|compte|cuenta|conto|conta|rekening"
        "|cups|pod|pdr|mpan|mprn",
    ),
    Label(
        ORDER_NUMBER,
        0.4,
        nordic="ordre?|faktura|bestillings",
        polish="zamówienia|faktury|przesyłki",
        turkish="sipariş|fatura|kargo",
        english="(?:purchase |work |sales )?order|invoice|inv|ticket|receipt|transaction|txn|payment|shipment"
        "|tracking|delivery|quote|parcel|return|rma",
        german="bestell|auftrags|rechnungs|ticket|beleg|liefer(?:schein)?|sendungs|transaktions|angebots|paket",
        dutch="bestel|order|factuur|ticket|transactie|zending",
        romance="commande|facture|transaction|suivi|colis|livraison|pedido|factura|transacci[oó]n|seguimiento"
        "|env[ií]o|ordine|fattura|scontrino|transazione|spedizione"
        "|encomenda|fatura|nota fiscal|transa[cç][aã]o|rastreio|rastreamento",
    ),
    Label(
        REFERENCE_NUMBER,
        0.5,
        english="(?:unique|our|your|tracking|internal|unique personal)",
        romance="notre|votre|nuestra|vuestra|nostro|vostro|nossa|vossa",
        named="ref(?:erence)?",
        alone=r"\breference(?:[ _-]?(?:number|no\b|id|code|#))|\bref(?:[ _-]?(?:number|no\b|id|code)|\.(?: no\b)?)"
        r"|\br[eé]f[eé]rence\b|\brefer[eê]ncia\b|\briferimento\b|\breferenz(?:nummer|nr\b|code)?\b"
        r"|\breferentie(?:nummer)?\b|\b(?:ons|uw) kenmerk\b|\bkenmerk\b|\bzeichen\b"
        r"|\bn[uú]mero de refer[eê]ncia\b|\bnumero di riferimento\b|\bnum[eé]ro de r[eé]f[eé]rence\b",
    ),
)
