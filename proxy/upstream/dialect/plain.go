package dialect

// Nothing is the name of the dialect of an upstream that gets the client's request as it is.
const Nothing = "plain"

var plain = table{name: Nothing}
