/** Whatever answers the SDK's client in place of the store or after it: what the calls of a storage are told is true. */
import { register } from "@sessions/conformance"
import { registerSchedules } from "@sessions/conformance/network"
import { test } from "vitest"
import { FEW, onNetwork } from "./network.ts"

// Its tries wait for answers that do not come, so many of them are made at once.
register(test, onNetwork(FEW), { only: ["network"], sizes: { race: 32 } })
registerSchedules(test, onNetwork(FEW), { runs: 2 })
