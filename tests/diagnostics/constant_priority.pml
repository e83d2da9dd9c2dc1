byte n;
active proctype p() priority n { skip }
