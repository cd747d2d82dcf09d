import {
  batchBytes,
  type CallOptions,
  checkExpect,
  checkSignal,
  type Chunk,
  type Head,
  newLog,
  StorageError,
} from "@sessions/core/storage"
import { rowsOf, type Writing } from "../database/schema.ts"
import type { Environment } from "../environment.ts"
import { isLost } from "../database/errors.ts"
import { headRow, stamp } from "./heads.ts"
import { dropStaged } from "./delete.ts"
import { type End, endOf, toRows } from "./rows.ts"
import { reading, sent, writing } from "../database/transaction.ts"

/** Lines that one transaction lays by. Appends to any session wait that long. */
const STAGE_BYTES = 1_000_000

/**
 * The new log is laid by under its own identity, in as many transactions as it takes: a source may be slow, and no transaction waits
 * for it. One more makes it the session's log and drops the old one. A crash before that leaves the old log, and rows that a later
 * delete sweeps.
 */
export async function replace(
  env: Environment,
  session: string,
  chunks: AsyncIterable<Chunk>,
  { expect, signal }: CallOptions & { readonly expect: Head },
): Promise<Head> {
  const log = newLog()
  const stage = createStage(env, session, log)
  await reading(env.connection, ["heads"], async (tx) => {
    const row = await headRow(tx, session)
    checkExpect(row, expect)
  })
  try {
    for await (const { lines } of chunks) await stage.add(lines)
    const end = await stage.finish()
    checkSignal(signal)
    return await swap(env, session, { log, expect, end })
  } catch (error) {
    // Else the next delete does it.
    await writing(env.connection, ["log", "staged"], "relaxed", async (tx) => dropStaged(tx, log)).catch(
      () => undefined,
    )
    throw error
  }
}

interface Stage {
  add(lines: readonly string[]): Promise<void>
  finish(): Promise<End>
}

function createStage(env: Environment, session: string, log: string): Stage {
  let written: End = { next: 0, bytes: 0 }
  let lines: string[] = []
  let bytes = 0

  async function flush(): Promise<void> {
    const rows = toRows(log, written, lines)
    await writing(env.connection, ["log", "staged"], env.durability, async (tx) => {
      await claim(tx, session, log, written.next === 0)
      for (const { key, row } of rows) sent(tx.objectStore("log").put(row, key))
    })
    written = endOf(rows, lines.length, written)
    lines = []
    bytes = 0
  }

  return {
    async add(more) {
      for (const line of more) lines.push(line)
      bytes += batchBytes(more)
      if (bytes >= STAGE_BYTES) await flush()
    },
    async finish() {
      if (lines.length > 0) await flush()
      return written
    },
  }
}

/** A session that is deleted takes with it what is laid by for it; going on would leave rows that nobody knows of. */
async function claim(tx: Writing, session: string, log: string, first: boolean): Promise<void> {
  const store = tx.objectStore("staged")
  if (first) sent(store.put({ session, at: Date.now() }, log))
  else if ((await store.getKey(log)) === undefined) {
    throw new StorageError("conflict", `The session ${session} was deleted while its log was replaced.`, { session })
  }
}

async function swap(
  env: Environment,
  session: string,
  { log, expect, end }: { log: string; expect: Head; end: End },
): Promise<Head> {
  const attempt = (): Promise<Head> =>
    writing(env.connection, ["heads", "log", "staged"], env.durability, async (tx) => {
      const row = await headRow(tx, session)
      // An attempt whose end nobody heard of was committed.
      if (row?.log === log) return { next: end.next, log }
      checkExpect(row, expect)
      await claim(tx, session, log, false)
      sent(tx.objectStore("heads").put({ id: session, log, ...end, updatedAt: stamp(row) }))
      sent(tx.objectStore("log").delete(rowsOf(expect.log)))
      sent(tx.objectStore("staged").delete(log))
      return { next: end.next, log }
    })
  try {
    return await attempt()
  } catch (error) {
    if (!isLost(error)) throw error
    return attempt()
  }
}
