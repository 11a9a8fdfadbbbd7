"""Words that announce a number, a telephone or a date, which the model takes for a part of the address beside them.

"12 Elm Rd, SSN 536-90-4399" is an address and a number: the label is neither. Nothing that holds a digit is given up.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from gateway.models import Entity

# Never what a street is called after ("Via Nino Bixio") unless something else than a word stands before it.
_LABELS = frozenset(
    """
    chi dič egn emso emšo ičo isikukood jmbg klienta mecanográfico oib pcp polisy rg umowy
    aadhaar abn ahv allocataire apólice avs bic bsn btw bvn cedula cellphone celular cellulare clabe cnh cni cnp
    cnpj contrato contratto contrat cpf cpr cui cuil cuit curp cédula dni dob dossier dowodu dowód dui ehliyet ein email
    expediente factura fax gsm gstin handy hetu iban imei imss ine immatriculation insz itin iva kenteken kennz
    kennzeichen kimlik krankenkasse kvnr körkort lanr matricola matricule matrícula medicare mobiel mobil mobiltelefon
    mrn mva mwst mykad naf natel nhc nhs nie nif nin nino nip nipc nir niss npi nric nss nuss partita passaporte
    passaporto passeport pasaporte paspoort passport paszport pesel phone placa plaka plakası plaque polis polisnr
    polizza poliza póliza pps ppsn regon reisepass rfc rib ruc rut rvnr siren siret ssn ssns steuer svnr swift targa
    tckn tel telefon telefone telefono telefoon telefón teléfono telemovel telemóvel telephone tessera tfn tlf tva
    téléphone tél uen upn uscc utr vat vatin versicherten vin vkn vsnr whatsapp
    geb geboren born né née nacido nacida nato nata naissance nacimiento nascita nascimento
    """.split()
)
_ENDINGS = ("nummer", "nummern", "nummeret", "ausweis", "kennzeichen", "kennung", "datum", "konto")
# Behind them a sign or the end must stand: Idaho, Ort im Innkreis, Mobile in Alabama.
_SIGNED = frozenset("cap cell cep city id mobile ort plz postal postcode postleitzahl town wohnort zip".split())
_NUMBER = frozenset(
    "code id identity iva kimlik n nr no num number numer numero nummer numéro número sanitaria".split()
)
_OF = frozenset("d da de del della di do du of".split())
_WORD = re.compile(r"[^\W_]+")
_SIGN = re.compile(r"\s*(?:[:/=]|[+(]?\d{5})")
_GOES_ON = re.compile(r"-(?:nummer|nr|number|id)\b", re.IGNORECASE)
_EDGE = " \t\r\n,;:.#()/-–|*_=°º"
_SURE = 0.55


def without_labels(text: str, found: Entity) -> Iterator[Entity]:
    """What is left of an address without the labels in it. What follows one is no address, but a number."""
    words = list(_WORD.finditer(text, found.start, found.end))
    labels = _labels(text, words, found.end)
    if not labels:
        yield found
        return
    cuts = [(found.start, found.start), *(words[index].span() for index in sorted(labels)), (found.end, found.end)]
    for number, ((_, before), (after, _)) in enumerate(pairwise(cuts)):
        piece = text[before:after]
        start = before + len(piece) - len(piece.lstrip(_EDGE))
        end = after - len(piece) + len(piece.rstrip(_EDGE))
        if number and any(char.isdigit() for char in text[start:end]):
            yield replace(found, type="ID_NUMBER", start=start, end=end, score=min(found.score, _SURE))
        elif any(len(word[0]) > 2 for word in _WORD.finditer(text, start, end)):
            yield replace(found, start=start, end=end)


def _labels(text: str, words: Sequence[re.Match[str]], end: int) -> frozenset[int]:
    """Which of the words are labels, and what belongs to them: the "no." after one, the "número de" before it."""
    lower = [word[0].casefold() for word in words]
    labels: set[int] = set()
    for index, word in enumerate(lower):
        known = word in _LABELS or word.endswith(_ENDINGS) or (word in _SIGNED and _signed(text, words[index], end))
        first = index
        if known and index > 1 and lower[index - 1] in _OF and lower[index - 2] in _NUMBER:
            first -= 2
        if known and (first == 0 or first - 1 in labels or not text[words[first].start() - 2].isalpha()):
            labels.update(range(first, index + 1))
        elif word in _NUMBER and index - 1 in labels:
            labels.add(index)
    if _GOES_ON.match(text, end):
        labels.add(len(words) - 1)
    return frozenset(labels)


def _signed(text: str, word: re.Match[str], end: int) -> bool:
    return word.end() == end or (word[0].casefold() != "id" and _SIGN.match(text, word.end()) is not None)
