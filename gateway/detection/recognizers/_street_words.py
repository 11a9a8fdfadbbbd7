"""Street words by position: after the name (High Street), before it (rue de la Paix), or joined to it (Hauptstraße).

RE2 alternatives, any case. Weak words also have other meanings and need more of an address around them.
"""

AFTER = (
    r"street|avenue|road|boulevard|drive|lane|terrace|crescent|parkway|highway|freeway|expressway|turnpike|gardens"
    r"|mews|esplanade|broadway|st|ave|av|rd|blvd|dr|ln|terr|cres|pkwy|hwy|pde|gdns|cir|trl|sq|ct|pl|wy|cswy"
    r"|utca|útja|út|tér|körút|sokak|sokağı|sok|caddesi|cad|bulvarı|terrasse"
)
# Mostly suffixes of the United States Postal Service (Publication 28, appendix C1).
AFTER_WEAK = (
    r"way|court|place|square|circle|trail|close|grove|row|walk|alley|loop|route|plaza|path|ridge|run|crossing|hill"
    r"|heights|view|park|point|quay|wharf|parade|green|rise|vale|bay|creek|landing|bend|cove|causeway|pike|dale|end"
    r"|mall|annex|arcade|beach|bluff|branch|bridge|brook|bypass|canyon|cape|center|centre|common|corner|courtyard|crest"
    r"|crossroad|curve|divide|drove|estate|extension|fall|ferry|field|ford|forest|forge|fork|fort|garden|gate|gateway"
    r"|glen|harbor|harbour|haven|hollow|inlet|island|isle|junction|key|knoll|lake|laneway|light|lock|lodge|manor|meadow"
    r"|mill|mission|motorway|mount|mountain|neck|orchard|oval|overpass|parkways|pass|passage|pine|plain|port|prairie"
    r"|radial|ramp|ranch|rapid|rest|river|shoal|shore|skyway|spring|spur|station|stream|summit|throughway|trace|track"
    r"|tunnel|underpass|union|valley|viaduct|village|ville|vista|well|yard|croft|fold|garth|heath|mead|reach|side"
    r"|cottages|buildings|marg|chowk|nagar|sarani|tee|mnt|tn|iela|gatvė|prospekt|str"
)
"""May be followed by an s."""
BEFORE = (
    r"rue|chemin|all[ée]e|impasse|quai|faubourg|ruelle|mont[ée]e|boulevard|bd|bld|avenue|calle|avenida|avda|paseo"
    r"|carrer|callej[óo]n|camino|calzada|cerrada|privada|prolongaci[óo]n|circuito|jir[óo]n|rambla|carretera|ctra"
    r"|ronda|traves[íi]a|glorieta|pasaje|pasadizo|urbanizaci[óo]n|cuesta|viale|piazza|piazzale|corso"
    r"|vicolo|salita|traversa|rotonda|contrada|localit[àa]|lungo(?:mare|tevere|arno)|p\.zza|v\.le|c\.so|rua"
    r"|travessa|ladeira|viela|pra[çc]a|alameda"
    r"|estrada|rodovia|beco|cal[çc]ada|ulica|ul|aleja|aleje|osiedle|strada|bulevardul|calea|[sș]oseaua|drumul"
    r"|intrarea|aleea|ulice|n[áa]m[ěe]st[íi]"
    r"|trg|jalan|jl|lorong|улица|ул|проспект|пр|Λεωφ(?:όρος)?|Οδός|Πλατεία|Λ|plaça|largo|av"
)
"""May be followed by a full stop, which replaces the space."""
BEFORE_WEAK = (
    r"via|place|pl|route|passage|cours|plaza|square|villa|voie|sentier|plac|laan|al|os|vial|acceso"
    r"|ca[ñn]ada|diagonal|borgo|canale|s[íi]tio|condom[íi]nio|parque|lagoa|R"
)
JOINED = (
    r"stra(?:ß|ss)en?|str\.?|gasse|allee|chaussee|ufer|damm|promenade|straat|laan|gracht|plein|kade|singel|steeg"
    r"|plantsoen|gatan|gata|gaten|vägen|veien|vegen|gränd|stigen|torget|vej|gade|stræde|boulevard(?:en)?|baan|allé|katu"
    r"|kuja|(?-i:gate)|út|utca|tér|körút|n[áa]m[ěe]st[íi]|cesta"
    r"|polku|puiestee|tänav|gatvė|iela|braut|vegur"
)
JOINED_WEAK = (
    r"weg|platz|ring|hof|berg|graben|markt|steig|kamp|wall|tor|gärten|winkel|siedlung|dreef|dijk|pad|tie|tee|vei"
    r"|bakken|parken|rinne|holm|lund|hólar|rimi"
)
_COUNTRIES = r"""
afghanistan|albania|algeria|andorra|angola|argentina|armenia|australia|austria|österreich|autriche|azerbaijan|bahamas
|bahrain
|bangladesh|barbados|belarus|belgium|belgië|belgique|belgien|belize|benin|bhutan|bolivia|bosnia(?: and herzegovina)?
|botswana|brazil|brasil
|brunei|bulgaria|burkina faso|burundi|cambodia|cameroon|canada|kanada|cape verde|chad|chile|china|colombia|congo
|costa rica|croatia
|hrvatska|cuba|cyprus|czech republic|czechia|denmark|danmark|dänemark|djibouti|dominica|dominican republic|ecuador
|egypt|el salvador
|england|eritrea|estonia|eesti|eswatini|ethiopia|fiji|finland|suomi|france|frankreich|francia|gabon|gambia|georgia
|germany
|deutschland|allemagne|alemania|germania|ghana|greece|greenland|grenada|guatemala|guinea|guyana|haiti|honduras
|hong kong|hungary
|iceland|ísland|india|indonesia|iran|iraq|ireland|israel|italy|italia|italien|ivory coast|jamaica|japan|jordan
|kazakhstan|kenya
|kiribati|kosovo|kuwait|kyrgyzstan|laos|latvia|lebanon|lesotho|liberia|libya|liechtenstein|lithuania|luxembourg
|luxemburg|macau
|madagascar|malawi|malaysia|maldives|mali|malta|mauritania|mauritius|mexico|méxico|moldova|monaco|mongolia|montenegro
|morocco
|mozambique|myanmar|namibia|nauru|nepal|netherlands|nederland|niederlande|new zealand|nicaragua|niger|nigeria
|north macedonia
|norway|norge|norwegen|oman|pakistan|palau|panama|paraguay|peru|perú|philippines|poland|polska|polen|portugal
|puerto rico|qatar
|romania|russia|rwanda|samoa|san marino|saudi arabia|schweiz|suisse|svizzera|scotland|senegal|serbia|seychelles
|sierra leone|singapore
|slovakia|slovenia|slovenija|solomon islands|somalia|south africa|south korea|south sudan|spain|españa|spanien
|sri lanka|sudan
|suriname|swaziland|sweden|sverige|schweden|switzerland|syria|taiwan|tajikistan|tanzania|thailand|togo|tonga|tunisia
|turkey
|türkiye|türkei|turkmenistan|tuvalu|uganda|ukraine|united arab emirates|united kingdom|uk
|united states(?: of america)?|usa|u\.s\.a\.
|uruguay|uzbekistan|vanuatu|venezuela|vietnam|wales|yemen|zambia|zimbabwe
"""
COUNTRIES = _COUNTRIES.replace("\n", "")

AU_STATES = "NSW|VIC|QLD|SA|WA|TAS|NT|ACT"
US_STATES = (
    "AL|AK|AZ|AR|CA|CO|CT|DE|DC|FL|GA|HI|ID|IL|IN|IA|KS|KY|LA|ME|MD|MA|MI|MN|MS|MO|MT|NE|NV|NH|NJ|NM|NY|NC|ND|OH|OK"
    "|OR|PA|PR|RI|SC|SD|TN|TX|UT|VT|VA|WA|WV|WI|WY|AA|AE|AP|GU|VI"
)
