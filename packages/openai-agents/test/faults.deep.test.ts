import { failingCallsTests } from "./failing-calls.ts"

// Two rounds of the calls.
failingCallsTests(16)
