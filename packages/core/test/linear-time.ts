/** Long logs through a session, in linear time. */
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { createSessions } from "../src/session/repository.ts"
import type { SessionStorage } from "../src/storage/contract.ts"
import { chain, linesOf, user } from "./chain.ts"
import { cpuTime } from "./cpu-time.ts"
import { HEADER } from "./logs.ts"
import { STORED_ID, storeLines } from "./stored.ts"
import { textOf } from "./transfer.ts"
import { exportSession, importSession, sessionTree } from "@sessions/core/transfer"

const thousands = (count: number): string => count.toLocaleString("en")

/** At most `limit` times as long as an export and an import of the same log, which read it line by line. */
async function timed(storage: SessionStorage, limit: number, run: () => Promise<void>): Promise<void> {
  const started = cpuTime()
  const text = await textOf(exportSession(createSessions({ storage }), STORED_ID))
  await importSession(createSessions({ storage: createMemoryStorage() }), text)
  const once = cpuTime()
  await run()
  expect((cpuTime() - once) / (once - started)).toBeLessThan(limit)
}

export function longPathTest(count: number): void {
  test(`a path of ${thousands(count)} entries gives its context and its tree`, async () => {
    const storage = await storeLines(linesOf(chain(...Array.from({ length: count }, (_, n) => user(`${n}`))), HEADER))
    await timed(storage, 4, async () => {
      const session = await createSessions({ storage }).open(STORED_ID)
      expect((await session.context()).messages).toHaveLength(count)
      expect((await sessionTree(session)).path).toHaveLength(count)
    })
  })
}

export function tombstonesTest(entries: number): void {
  test(`${thousands(entries)} entries with one id and ${thousands(entries)} tombstones can be read page by page`, async () => {
    const said = Array.from({ length: entries }, (_, n) => user(`${n}`, { id: "x", parentId: n === 0 ? null : "x" }))
    const deleting = said.map(() => ({ type: "tombstone", targetId: "x" }))
    const storage = await storeLines(linesOf(chain(...said, ...deleting), HEADER))
    // Measured: 2 to 3.3 on the three runtimes. A scan of the log for each tombstone takes minutes.
    await timed(storage, 20, async () => {
      const session = await createSessions({ storage }).open(STORED_ID)
      let count = 0
      let before: string | undefined
      do {
        const page = await session.messages({ limit: 100, ...(before === undefined ? {} : { before }) })
        count += page.messages.length
        before = page.before
      } while (before !== undefined)
      // Each tombstone means the latest entry with the id.
      expect(count).toBe(entries - 1)
    })
  })
}
