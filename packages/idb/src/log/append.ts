import { unwrap } from "idb"
import { type AppendOptions, checkExpect, type Head, newLog, StorageError } from "@sessions/core/storage"
import type { HeadRow, Writing } from "../database/schema.ts"
import type { Environment } from "../environment.ts"
import { isLost, isQuota } from "../database/errors.ts"
import { headRow, stamp } from "./heads.ts"
import { linesBetween } from "./pages.ts"
import { rest } from "../rooms/rooms.ts"
import { endOf, toRows } from "./rows.ts"
import { writing } from "../database/transaction.ts"

/**
 * One transaction that compares the head, adds the rows and puts the head. Where its fate is unknown, another of the same kind,
 * which waits for the lost one if that still goes on, looks for the lines and writes them if they are not there. Where there is no
 * room, the session is folded and the append tried once more.
 */
export async function append(
  env: Environment,
  session: string,
  lines: readonly string[],
  { expect, info }: AppendOptions,
): Promise<Head> {
  const log = expect === 0 ? newLog() : expect.log
  const attempt = (look: boolean): Promise<Head> =>
    writing(env.connection, ["heads", "log"], env.durability, async (tx) => {
      const row = await headRow(tx, session)
      if (look && (await hasOwn(tx, row, log, expect, lines))) return headAfter(log, expect, lines)
      checkExpect(row, expect)
      return write(tx, row, { session, log, lines, info })
    })

  let look = false
  let folded = false
  for (;;) {
    try {
      return await attempt(look)
    } catch (error) {
      if (isQuota(error) && !folded) {
        folded = true
        await makeRoom(env, session).catch(() => undefined)
      } else if (isLost(error) && !look) look = true
      else if (look && !isCertain(error)) throw unknown(session, error)
      else throw error
    }
  }
}

async function makeRoom(env: Environment, session: string): Promise<void> {
  const { foldLog } = await rest.load()
  await foldLog(env, session)
}

interface Batch {
  readonly session: string
  readonly log: string
  readonly lines: readonly string[]
  readonly info: string | undefined
}

function write(tx: Writing, row: HeadRow | undefined, { session, log, lines, info }: Batch): Head {
  const at = { next: row?.next ?? 0, bytes: row?.bytes ?? 0 }
  const rows = toRows(log, at, lines)
  const end = endOf(rows, lines.length, at)
  // Unwrapped: nobody waits for these requests, whose failure ends the transaction, and a promise each is a tenth of an append.
  const store = unwrap(tx.objectStore("log"))
  for (const { key, row } of rows) store.add(row, key)
  const text = info === undefined ? row?.info : { text: info, next: end.next }
  const head: HeadRow = { id: session, log, ...end, updatedAt: stamp(row), ...(text !== undefined && { info: text }) }
  unwrap(tx.objectStore("heads")).put(head)
  return { next: end.next, log }
}

/** Whether an attempt that looked for the lines first has ended by what it saw. */
function isCertain(error: unknown): boolean {
  return isQuota(error) || (error instanceof StorageError && (error.code === "conflict" || error.code === "corrupt"))
}

function unknown(session: string, cause: unknown): StorageError {
  return new StorageError(
    "indeterminate",
    `The browser lost its connection while lines were appended to session ${session}, and cannot tell now whether they are there. Read its end before you repeat them.`,
    { session, cause },
  )
}

/** Whether these very lines stand where they should: appended by a transaction whose end nobody heard of. */
async function hasOwn(
  tx: Writing,
  row: HeadRow | undefined,
  log: string,
  expect: 0 | Head,
  lines: readonly string[],
): Promise<boolean> {
  const { next } = headAfter(log, expect, lines)
  if (row === undefined || row.log !== log || row.next < next) return false
  const found = await linesBetween(tx, log, next - lines.length, next)
  return lines.every((line, index) => found[index] === line)
}

function headAfter(log: string, expect: 0 | Head, lines: readonly string[]): Head {
  return { next: (expect === 0 ? 0 : expect.next) + lines.length, log }
}
