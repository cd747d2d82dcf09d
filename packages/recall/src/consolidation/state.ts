/** The last consolidation, in a file of its own: its time, and the sessions that it has left out. */
import type { CallOptions } from "@sessions/core/storage"
import { retried } from "../files/changes.ts"
import { CONSOLIDATION_FILES } from "../files/names.ts"
import type { MemoryFiles } from "../files/types.ts"

const NAME = CONSOLIDATION_FILES.state

/**
 * Milliseconds since the epoch; undefined if there was none, or if the file is damaged: then it is due. A time after `latest` is that of a
 * clock that was wrong, and counts as damaged: no session would have messages since then.
 */
export async function lastConsolidation(
  files: MemoryFiles,
  latest: number,
  o: CallOptions,
): Promise<number | undefined> {
  const file = await files.read(NAME, o)
  const { last_consolidated_at: seconds } = parse(file?.text)
  return typeof seconds === "number" && seconds >= 0 && seconds * 1_000 <= latest ? seconds * 1_000 : undefined
}

/** Ids of sessions that the last consolidation has left out because they were in use. */
export async function leftOutSessions(files: MemoryFiles, o: CallOptions): Promise<readonly string[]> {
  const { left_out: ids } = parse((await files.read(NAME, o))?.text)
  return Array.isArray(ids) ? ids.filter((id) => typeof id === "string").slice(0, MOST_LEFT_OUT) : []
}

/** More sessions than are in use at once. */
const MOST_LEFT_OUT = 100

/** `leftOut` undefined: as it was. Fields of other programs are kept. Takes no signal: an aborted write may still happen, and then nothing would be reviewed again. */
export async function writeState(files: MemoryFiles, ms: number, leftOut?: readonly string[]): Promise<void> {
  // A person may change the file since it was read.
  await retried(NAME, async () => {
    const file = await files.read(NAME)
    const { left_out: before, ...others } = parse(file?.text)
    const ids = leftOut === undefined ? before : leftOut.length === 0 ? undefined : leftOut.slice(0, MOST_LEFT_OUT)
    const state = { ...others, last_consolidated_at: Math.floor(ms / 1_000), lock_etag: null, left_out: ids }
    await files.write(NAME, `${JSON.stringify(state)}\n`, { expect: file?.version ?? null })
  })
}

function parse(text = ""): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {}
  } catch {
    return {}
  }
}
