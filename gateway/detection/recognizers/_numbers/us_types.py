"""Entity types of the United States that several recognizers share."""

from gateway.detection.recognizer import EntityType

US_SSN = EntityType("US_SSN", "government_id", "A United States Social Security number.")
US_ITIN = EntityType("US_ITIN", "government_id", "A United States individual taxpayer identification number.")
US_PASSPORT = EntityType("US_PASSPORT", "government_id", "The number of a United States passport.")
US_DRIVER_LICENSE = EntityType("US_DRIVER_LICENSE", "government_id", "The number of a driving licence of a US state.")
