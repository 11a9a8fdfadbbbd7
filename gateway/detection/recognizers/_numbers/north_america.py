"""The United States and Canada."""

from gateway.detection.recognizers import bank_account
from gateway.detection.recognizers._numbers import checks_world as checks
from gateway.detection.recognizers._numbers import us_types
from gateway.detection.recognizers._numbers.checks import varied
from gateway.detection.recognizers._numbers.number import (
    BANK,
    COMPANY,
    HEALTH,
    LICENCE,
    PASSPORT,
    PROFESSION,
    SOCIAL,
    TAX,
    Number,
)

_PROVINCE_LICENCES = (
    "@####-#####-#####, @##############, #######, ######-###, @#############, @@##########, @@@@@@######@@@@###, "
    "########, @############, #########"
)

# fmt: off
NUMBERS = (
    # --- The United States
    Number(SOCIAL, us_types.US_SSN.name, us_types.US_SSN.description,
           "#########", checks.us_ssn, 0.15, "ssn, ssns, social security, soc sec, ss#, ssid, TIN, taxpayer",
           "799483589"),
    Number(TAX, us_types.US_ITIN.name, us_types.US_ITIN.description,
           "9########", checks.us_itin, 0.15,
           "itin, individual taxpayer, taxpayer, tax id, tax identification, TIN", "901701403"),
    Number(TAX, "US_EIN", "The Employer Identification Number of a business in the United States.",
           "##-#######, #########", "us.ein", 0.1,
           "ein, fein, employer identification, employer id, federal tax id", "61-9177439", grouped=0.4),
    Number(TAX, "US_PTIN", "The number of a tax preparer in the United States.",
           "P########, P-########", "us.ptin", 0.15, "ptin, preparer", "P63708242"),
    Number(PASSPORT, us_types.US_PASSPORT.name, us_types.US_PASSPORT.description,
           "@########, #########", varied, 0.05, "passport, passport number, travel document, us passport",
           "W15569629"),
    Number(LICENCE, us_types.US_DRIVER_LICENSE.name, us_types.US_DRIVER_LICENSE.description,
           "@#######, @########, @############, @##############, @@######, @@#######, #########, ########, "
           "@###-####-####, @###-###-##-###-#, ###-##-####, @###-####-####-##, ##@@@#####, @##-##-####, "
           "@####-#####-#####, @@@######, @@@**######, ###@@####, @@@@@######**, @@@@@##@***#, @#####, "
           "@######, @#########, @@##########", varied, 0.1,
           "driver license, driver's license, drivers license, driver licence, driving license, dl number, "
           "dl no, dmv, state id, operator license", "B8921400"),
    Number(HEALTH, "US_MBI", "The Medicare Beneficiary Identifier of a person in the United States.",
           "#@*#-@*#-@@##, #@*#@*#@@##, #@*# @*# @@##", checks.us_mbi, 0.6,
           "mbi, medicare, medicare number, beneficiary", "5D64-Q32-HR91", grouped=0.8),
    Number(PROFESSION, "US_NPI", "The National Provider Identifier of a clinician in the United States.",
           "##########, ####-###-###, #### ### ###", checks.us_npi, 0.15,
           "npi, provider identifier, national provider", "1992082358", grouped=0.3),
    Number(PROFESSION, "MEDICAL_LICENSE", "The DEA registration of a prescriber in the United States.",
           "@@#######, @9#######", checks.us_dea, 0.4,
           "dea, dea number, dea no, dea registration, medical license, certificate number", "DI3793951"),
    Number(BANK, bank_account.ABA_ROUTING_NUMBER.name, bank_account.ABA_ROUTING_NUMBER.description,
           "#########, ####-####-#", checks.us_routing, 0.15,
           "routing, aba, rtn, transit, bank routing, wire transfer", "297732330", grouped=0.4),
    Number(BANK, bank_account.US_BANK_NUMBER.name, bank_account.US_BANK_NUMBER.description,
           "########, #########, ##########, ###########, ############, #############, ##############", varied,
           0.05, "bank account, account number, account no, account #, checking account, savings account",
           "66890601"),
    # --- Canada
    Number(SOCIAL, "CA_SIN", "The Social Insurance Number of a person in Canada.",
           "### ### ###, ###-###-###, #########", checks.ca_sin, 0.15,
           "social insurance, social insurance number, SIN, sin number, sin no, sin #, NAS, "
           "numéro d'assurance sociale, assurance sociale", "200 524 551", grouped=0.4),
    Number(COMPANY, "CA_BN", "The Business Number of a business in Canada.",
           "#########, #########RT####, #########RC####, #########RP####, ##### ####, ######### RT ####", "ca.bn",
           0.1, "business number, bn, gst number, gst/hst, numéro d'entreprise", "386031405"),
    Number(HEALTH, "CA_BC_PHN", "The Personal Health Number of a person in British Columbia.",
           "9#########, 9### ### ###, 9###-###-###", "ca.bc_phn", 0.15,
           "phn, personal health number, bc health, msp", "9341816822"),
    Number(HEALTH, "CA_ONTARIO_HEALTH", "The health card number of a person in Ontario.",
           "####-###-###-@@, #### ### ### @@, ##########@@, ####-###-###, #### ### ###", checks.ca_ontario_health,
           0.2, "ohip, ontario health, health card, health card number", "6285-111-966-BO"),
    Number(HEALTH, "CA_RAMQ", "The health insurance number of a person in Quebec.",
           "@@@@ #### ####, @@@@########, @@@@-####-####", checks.ca_quebec_health, 0.4,
           "ramq, assurance maladie, carte soleil, nam", "BCAT 4258 1135"),
    Number(PASSPORT, "CA_PASSPORT", "The number of a Canadian passport.",
           "@@######, @######@@", None, 0.05, "canadian passport, passeport canadien, passport, passeport",
           "WZ774087"),
    Number(LICENCE, "CA_DRIVER_LICENSE", "The number of a driving licence of a Canadian province.",
           _PROVINCE_LICENCES, varied, 0.02,
           "driver's licence, driver licence, drivers licence, permis de conduire, driving licence",
           "V5196-99176-68860"),
)
# fmt: on
