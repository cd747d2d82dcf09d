/** A run in a process of its own that is killed, and repeated. */
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { createSessions } from "@sessions/core"
import { verifySession } from "@sessions/core/transfer"
import { expect, test } from "vitest"
import { createChatStore } from "../src/index.ts"
import { afterSteps } from "./answers.ts"
import { exitOf, startProgram } from "./processes.ts"
import { contentsOf } from "./several-processes.ts"
import { openStorage } from "./storage-of-process.ts"

/** `killsAfter`: the numbers of stored steps, of 30, after which a run is killed; the last run ends. */
export function killedRunTest(kind: string, killsAfter: readonly number[]): void {
  test(`on ${kind}, a run that is killed at any point leaves its steps, and the repeated run writes each once`, async () => {
    const root = fs.mkdtempSync(join(tmpdir(), "sessions-ai-sdk-"))
    let stored = 0
    let steps = 0
    for (const killAfter of killsAfter) {
      const child = startProgram(new URL("run-process.ts", import.meta.url), [kind, root, "30"])
      for await (const line of createInterface(child.stdout)) {
        stored = Number(line.slice("stored ".length))
        if (stored === killAfter) child.kill("SIGKILL")
      }
      await exitOf(child)
      const sessions = createSessions({ storage: openStorage(kind, root) })
      const messages = await createChatStore(sessions).loadChat("c")
      steps = (messages[1]?.parts.length ?? 0) / 2
      expect(steps).toBeGreaterThanOrEqual(stored)
      expect(messages).toEqual(afterSteps(steps))
      const contents = await contentsOf(sessions)
      expect([contents.length, new Set(contents).size]).toEqual([1 + 2 * steps, 1 + 2 * steps])
      expect((await verifySession(sessions, "c")).diagnostics).toEqual([])
      await sessions.close()
    }
    expect(steps).toBe(30)
    fs.rmSync(root, { recursive: true })
  })
}
