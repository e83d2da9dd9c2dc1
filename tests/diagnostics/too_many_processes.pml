active [300] proctype p() { skip }
