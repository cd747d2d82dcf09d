/** Creates the checkpoints of the sessions that work in one folder. Start here. */
import { type Session, SessionError } from "@sessions/core"
import { type CallOptions, checkOptions, checkSessionId, checkSignal, type OptionNames } from "@sessions/core/storage"
import { SnapshotDocuments } from "./documents/documents.ts"
import { SessionCheckpoints } from "./session-checkpoints.ts"
import type { Checkpoints, CheckpointsOptions, CheckpointsRepository } from "./types.ts"

const OPTIONS: OptionNames<CheckpointsOptions> = { storage: true, files: true, maxSnapshots: true, maxFileBytes: true }

/** The oldest snapshot is merged into the next one, which must not be the one of the running turn. */
const LEAST_SNAPSHOTS = 2

/** Throws `invalid` for unknown options and wrong values. Nothing is read or written before the first call. */
export function createCheckpoints(options: CheckpointsOptions): CheckpointsRepository {
  checkOptions("createCheckpoints", options, OPTIONS)
  const { storage, files, maxSnapshots = 100, maxFileBytes = 50_000_000 } = options
  if (typeof storage?.docs?.put !== "function") {
    throw invalidError('`storage` must be a storage, such as createFileStorage({ root: "./.sessions" })')
  }
  if (typeof files?.stat !== "function") {
    throw invalidError("`files` must be the files that the agent works on, such as createWorkFiles(folder)")
  }
  checkNumber("maxSnapshots", maxSnapshots, LEAST_SNAPSHOTS)
  checkNumber("maxFileBytes", maxFileBytes, 0)
  const known = new WeakMap<Session, Checkpoints>()
  return {
    of(session) {
      const checkpoints =
        known.get(session) ?? new SessionCheckpoints(session, { storage, files, maxSnapshots, maxFileBytes })
      known.set(session, checkpoints)
      return checkpoints
    },
    async delete(sessionId: string, o: CallOptions = {}) {
      checkSessionId(sessionId)
      checkSignal(o.signal)
      await new SnapshotDocuments(storage, sessionId).deleteAll(o)
    },
  }
}

function checkNumber(name: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return
  throw invalidError(`\`${name}\` must be a whole number from ${least}`)
}

function invalidError(problem: string): SessionError {
  return new SessionError("invalid", `createCheckpoints: ${problem}.`)
}
