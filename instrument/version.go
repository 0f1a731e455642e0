package instrument

// Version is the version of leaderscope: of this module, and of the adapters
// and the generator, which are released with it. Instrumentation scopes of
// OpenTelemetry carry it.
const Version = "0.1.0"
