/** A run in a process of its own, which is killed or stopped while pages of another process follow it. */
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createSessions } from "@sessions/core"
import { verifySession } from "@sessions/core/transfer"
import { readUIMessageStream, type UIMessage, validateUIMessages } from "ai"
import { expect, test } from "vitest"
import { createChatStore, createChatStreams } from "../src/index.ts"
import { Page } from "./pages.ts"
import { exitOf, startProgram } from "./processes.ts"
import { openStorage } from "./storage-of-process.ts"

export function endedRunTest(kind: string, how: "killed" | "stopped"): void {
  test(`on ${kind}, a run that is ${how} ends for its page, and the chat has what the page has got`, async () => {
    const root = fs.mkdtempSync(join(tmpdir(), "sessions-ai-sdk-"))
    const sessions = createSessions({ storage: openStorage(kind, root) })
    const streams = createChatStreams<UIMessage>(sessions, { readUIMessageStream })
    const child = startProgram(new URL("stream-process.ts", import.meta.url), [kind, root])
    let stream: ReadableStream<Uint8Array> | null = null
    while (stream === null) {
      await new Promise((resolve) => setTimeout(resolve, 20))
      stream = await streams.resume("c")
    }
    const page = new Page(stream)
    await page.read(30)
    if (how === "stopped") await streams.stop("c")
    else {
      child.kill("SIGKILL")
      await exitOf(child)
      await createChatStreams<UIMessage>(sessions, { readUIMessageStream, heartbeatMs: 10 }).stop("c")
    }
    const chunks = (await page.read()) as { readonly type: string; readonly delta?: string }[]
    expect(await exitOf(child)).toBe(how === "stopped" ? 0 : null)
    expect([chunks.at(-1)?.type, page.isDone]).toEqual(["abort", true])
    const words = chunks.map(({ delta = "" }) => delta).join("")
    expect(words).toBe(Array.from({ length: words.split(" ").length - 1 }, (_, n) => `${n} `).join(""))
    const { messages, activeStreamId } = await createChatStore<UIMessage>(sessions).readChat("c")
    expect(activeStreamId).toBeNull()
    const [question, answer, ...more] = await validateUIMessages({ messages })
    expect([question?.id, more]).toEqual(["u1", []])
    expect(answer?.parts).toEqual([{ type: "step-start" }, { type: "text", text: words, state: "streaming" }])
    expect((await verifySession(sessions, "c")).diagnostics).toEqual([])
    await sessions.close()
    fs.rmSync(root, { recursive: true })
  })
}
