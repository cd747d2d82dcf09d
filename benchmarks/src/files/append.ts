/**
 * Appends messages of 2 KB, one at a time or many in flight, with durability `os` and `disk`. The raw loops do the same writes on an
 * open file.
 */
import { closeSync, fdatasync, fstatSync, openSync, writeSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { createSessions, type Session } from "@sessions/core"
import { createStorage } from "./storage.ts"
import { lineOf, message } from "../data.ts"
import { withFolder } from "../folder.ts"
import { type Result, type Scenario, timed } from "../report.ts"
import { inTurns, milliseconds, verify } from "../rounds.ts"

export function appendScenarios(quick: boolean): readonly Scenario[] {
  const os = quick ? 2_000 : 10_000
  const disk = quick ? 200 : 1_000
  return [
    scenario({ id: "append.os.awaited", durability: "os", count: os, inFlight: 1, raw: writeAndStat }),
    scenario({ id: "append.os.pipelined", durability: "os", count: os, inFlight: 64, raw: writeAndStat }),
    scenario({ id: "append.disk.serial", durability: "disk", count: disk, inFlight: 1, raw: writeAndSync }),
    scenario({ id: "append.disk.concurrent64", durability: "disk", count: disk * 8, inFlight: 64, raw: writeAndSync }),
  ]
}

interface Append {
  readonly id: string
  readonly durability: "os" | "disk"
  readonly count: number
  readonly inFlight: number
  readonly raw: (path: string, count: number, together: number) => Promise<void>
}

function scenario(append: Append): Scenario {
  return { id: append.id, run: () => withFolder((folder) => compare(folder, append)) }
}

async function compare(root: string, { id, durability, count, inFlight, raw }: Append): Promise<Result> {
  const storage = createStorage({ root: join(root, "store"), durability, maxSessionBytes: 4e9 })
  const sessions = createSessions({ storage })
  const pair = await inTurns({
    async ours() {
      const session = await sessions.create()
      const time = await milliseconds(() => appendAll(session, count, inFlight))
      const { messageCount } = await session.info()
      verify(messageCount === count, `${messageCount} of ${count} messages are in the log`)
      await sessions.delete(session.id)
      return (time * 1_000) / count
    },
    raw: async (round) =>
      ((await milliseconds(() => raw(join(root, `raw-${round}`), count, inFlight))) * 1_000) / count,
  })
  await sessions.close()
  return timed(id, "µs/message", pair)
}

async function appendAll(session: Session, count: number, inFlight: number): Promise<void> {
  if (inFlight === 1) {
    for (let i = 0; i < count; i++) await session.append(message(i))
    return
  }
  // One appender for each append in flight.
  let next = 0
  const appender = async (): Promise<void> => {
    while (next < count) await session.append(message(next++))
  }
  await Promise.all(Array.from({ length: inFlight }, appender))
}

/** One synchronous write and stat a message, for any number in flight. */
async function writeAndStat(path: string, count: number): Promise<void> {
  const fd = openSync(path, "a")
  for (let i = 0; i < count; i++) {
    writeSync(fd, lineOf(i))
    fstatSync(fd)
  }
  closeSync(fd)
}

const sync = promisify(fdatasync)

/** One write and one fdatasync for every `together` messages; the sync is asynchronous, as in the storage. */
async function writeAndSync(path: string, count: number, together: number): Promise<void> {
  const fd = openSync(path, "a")
  for (let i = 0; i < count; i += together) {
    writeSync(fd, Array.from({ length: Math.min(together, count - i) }, (_, k) => lineOf(i + k)).join(""))
    await sync(fd)
  }
  closeSync(fd)
}
