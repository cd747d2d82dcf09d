/** Whatever answers the SDK's client in place of the store or after it: what the calls of a storage are told is true. */
import { register } from "@sessions/conformance"
import { registerSchedules } from "@sessions/conformance/network"
import { test } from "vitest"
import { FEW, onNetwork } from "./network.ts"

// Slow: the cases wait for answers that do not come, so they run at once, and each one's time has that of the others.
register(test.concurrent, onNetwork(FEW), { only: ["network"], sizes: { race: 4 } })
registerSchedules(test.concurrent, onNetwork(FEW), { runs: 3 })
