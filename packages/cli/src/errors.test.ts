import { expect, test } from "vitest"
import { captured, createCli } from "../test/harness.ts"
import { toFailure } from "./errors.ts"
import { run } from "./run/run.ts"

test("a failure is one line without a stack, whatever its message holds", async () => {
  const { exit, stdout, stderr } = await createCli()("show", "missing")
  expect({ exit, stdout }).toEqual({ exit: 1, stdout: "" })
  expect(stderr).toMatch(/^sessions: [^\n]+\n$/)
  expect(toFailure(Object.assign(new Error("a\nb\u001b[2J"), { code: "corrupt" }))).toEqual({
    exit: 1,
    message: "a b␛[2J",
  })
})

test("the stack is there for who asks for it", async () => {
  const { exit, stderr } = await createCli({ env: { SESSIONS_DEBUG: "1" } })("show", "missing")
  expect(exit).toBe(1)
  expect(stderr).toMatch(/^sessions: .*\n(.*\n)* +at /)
})

test("a reader that went away is no failure, and nothing is said about it", async () => {
  const { io, stderr } = captured({})
  const gone = Object.assign(new Error("write EPIPE"), { code: "EPIPE" })
  const exit = await run(["--help"], { ...io, stdout: { isTerminal: false, write: () => Promise.reject(gone) } })
  expect({ exit, stderr: stderr() }).toEqual({ exit: 0, stderr: "" })
})

test("an interrupt says so and has the status that shells know", () => {
  const abort = new AbortController()
  abort.abort()
  expect(toFailure(abort.signal.reason)).toEqual({ exit: 130, message: "stopped." })
  expect(toFailure(Object.assign(new Error("x"), { code: "aborted" })).exit).toBe(130)
})

test("an interrupt ends a command that waits for input", async () => {
  const abort = new AbortController()
  async function* silent(): AsyncIterable<Uint8Array> {
    yield new TextEncoder().encode('{"type":"session",')
    abort.abort()
    await new Promise(() => undefined)
  }
  const { io, stderr } = captured({})
  const exit = await run(["import", "-", "--store", "memory:"], { ...io, stdin: silent(), signal: abort.signal })
  expect({ exit, stderr: stderr() }).toEqual({ exit: 130, stderr: "sessions: stopped.\n" })
})

test("an error without a code is a defect, and says how to see more of it", () => {
  expect(toFailure(new TypeError("x is not a function")).message).toMatch(
    /^unexpected error: x is not .*SESSIONS_DEBUG=1/,
  )
})
