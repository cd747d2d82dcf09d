import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { commandSummarizer } from "./summarizer.ts"

const request = (signal: AbortSignal) => ({ system: "system", prompt: "prompt", maxTokens: 9, signal })

test("aborting kills the command and all processes that it started", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sessions-summarizer-"))
  const mark = join(folder, "started")
  try {
    const stop = new AbortController()
    // A process left running would keep the output open, and the promise would not settle before it ends.
    const summarize = commandSummarizer('sleep 3600 & touch "$MARK"; wait', {
      cwd: folder,
      env: { PATH: process.env["PATH"], MARK: mark },
    })
    const summary = summarize(request(stop.signal))
    await expect.poll(() => existsSync(mark)).toBe(true)
    stop.abort()
    await expect(summary).rejects.toThrow(/was killed by SIGKILL/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test("a command that is aborted before it starts is killed", async () => {
  const summarize = commandSummarizer("sleep 3600", { cwd: process.cwd(), env: { PATH: process.env["PATH"] } })
  await expect(summarize(request(AbortSignal.abort()))).rejects.toThrow(/was killed by SIGKILL/)
})

test("the input is the system prompt and the prompt; SESSIONS_TEMPERATURE is set only if requested", async () => {
  const io = { cwd: process.cwd(), env: { PATH: process.env["PATH"] } }
  const summarize = commandSummarizer('cat; echo "[$SESSIONS_MAX_TOKENS $SESSIONS_TEMPERATURE]"', io)
  const { signal } = new AbortController()
  expect(await summarize(request(signal))).toBe("system\n\nprompt\n[9 ]\n")
  expect(await summarize({ ...request(signal), temperature: 0 })).toBe("system\n\nprompt\n[9 0]\n")
})
