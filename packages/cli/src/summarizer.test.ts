import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { commandSummarizer } from "./summarizer.ts"

const request = (signal: AbortSignal) => ({ system: "system", prompt: "prompt", maxTokens: 9, signal })

test("a program that is stopped is stopped with all that it has started", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sessions-summarizer-"))
  const mark = join(folder, "started")
  try {
    const stop = new AbortController()
    // What it leaves running would hold its output open, and nothing would settle before that ends.
    const summarize = commandSummarizer('sleep 60 & touch "$MARK"; wait', {
      cwd: folder,
      env: { PATH: process.env["PATH"], MARK: mark },
    })
    const asked = summarize(request(stop.signal))
    await expect.poll(() => existsSync(mark), { timeout: 10_000 }).toBe(true)
    stop.abort()
    await expect(asked).rejects.toThrow(/was ended by SIGKILL/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test("one that was given up before it started does not run on", async () => {
  const summarize = commandSummarizer("sleep 60", { cwd: process.cwd(), env: { PATH: process.env["PATH"] } })
  await expect(summarize(request(AbortSignal.abort()))).rejects.toThrow(/was ended by SIGKILL/)
})

test("its input is the system prompt and the prompt; the temperature is there only where one is asked for", async () => {
  const io = { cwd: process.cwd(), env: { PATH: process.env["PATH"] } }
  const summarize = commandSummarizer('cat; echo "[$SESSIONS_MAX_TOKENS $SESSIONS_TEMPERATURE]"', io)
  const { signal } = new AbortController()
  expect(await summarize(request(signal))).toBe("system\n\nprompt\n[9 ]\n")
  expect(await summarize({ ...request(signal), temperature: 0 })).toBe("system\n\nprompt\n[9 0]\n")
})
