import { killedPruneTest } from "./killed-prune.ts"

/** More with RETENTION_ROUNDS. */
const STEPS = Array.from({ length: Number(process.env["RETENTION_ROUNDS"] ?? 3) }, (_, n) => n * 7)

killedPruneTest(STEPS)
