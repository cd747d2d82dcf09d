/** Pruning and collecting in a process that is killed, beside one that writes. */
import { spawn } from "node:child_process"
import * as fs from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { createSessions } from "@sessions/core"
import { collect, deleteOldSessions } from "@sessions/core/transfer"
import { expect, test } from "vitest"
import { createFileStorage } from "../src/index.ts"
import { makeRoot } from "./helpers.ts"
import { FLAGS } from "../../../.config/program.ts"

const PROCESS = fileURLToPath(new URL("retention-process.ts", import.meta.url))
const DAY = 24 * 60 * 60 * 1000
const image = (n: number) => ({ type: "image", mimeType: "image/png", data: btoa(`image ${n} `.repeat(300)) }) as const
const said = (n: number, age: number) =>
  ({
    type: "message",
    timestamp: new Date(Date.now() - age).toISOString(),
    message: { role: "user", content: [image(n)] },
  }) as const

/** Makes every blob old. */
function age(root: string): void {
  for (const folder of fs.readdirSync(join(root, ".blobs")))
    for (const name of fs.readdirSync(join(root, ".blobs", folder)))
      fs.utimesSync(join(root, ".blobs", folder, name), new Date(0), new Date(0))
}

/** `steps`: after how many calls of its storage the process of each round is killed. */
export function killedPruneTest(steps: readonly number[]): void {
  test("a process that is killed anywhere while it prunes and collects takes no new session and no mentioned blob, and the next call finishes", async () => {
    const root = makeRoot()
    const sessions = createSessions({ storage: createFileStorage({ root }) })
    const stays = new Map<string, number>()
    for (let n = 0; n < 6; n++) {
      const session = await sessions.create({ id: `new${n}` })
      await session.append(said(n, 0))
      await session.close()
      stays.set(session.id, 1)
    }
    let killed = 0
    for (const [round, step] of steps.entries()) {
      for (let n = 0; n < 4; n++) {
        const session = await sessions.create({ id: `old${round}-${n}` })
        // Every second one shares its image with a session that stays.
        await session.append(said(n % 2 === 0 ? n : 100 + round * 4 + n, 90 * DAY))
        await session.close()
      }
      age(root)
      const child = spawn(process.execPath, [...FLAGS, PROCESS, root, String(step)], { stdio: "inherit" })
      const ended = new Promise<NodeJS.Signals | null>((resolve) => child.on("close", (_, signal) => resolve(signal)))
      // Another writer continues sessions meanwhile.
      const id = `new${round % 6}`
      const session = await sessions.open(id)
      await session.append(said(200 + round, 0))
      await session.close()
      stays.set(id, (stays.get(id) ?? 0) + 1)
      if ((await ended) === "SIGKILL") killed++
      for (const [one, messages] of stays) {
        const open = await sessions.open(one)
        const { messages: found, diagnostics } = await open.context()
        expect([found.length, diagnostics]).toEqual([messages, []])
        await open.close()
      }
    }
    expect(killed).toBeGreaterThan(0)
    await deleteOldSessions(sessions, { olderThan: 30 * DAY })
    await collect(sessions)
    const { sessions: left } = await sessions.list({ limit: 200 })
    expect(left.map(({ id }) => id).toSorted()).toEqual([...stays.keys()].toSorted())
    expect(await collect(sessions, { dryRun: true })).toMatchObject({ removed: 0, swept: { removed: 0 } })
    await sessions.close()
  })
}
