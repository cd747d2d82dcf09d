import { expect, test } from "vitest"
import { captured, createCli } from "../test/harness.ts"
import { toFailure } from "./errors.ts"
import { run } from "./run/run.ts"

test("an error is printed as one sanitized line without a stack", async () => {
  const { exit, stdout, stderr } = await createCli()("show", "missing")
  expect({ exit, stdout }).toEqual({ exit: 1, stdout: "" })
  expect(stderr).toMatch(/^sessions: [^\n]+\n$/)
  expect(toFailure(Object.assign(new Error("a\nb\u001b[2J"), { code: "corrupt" }))).toEqual({
    exit: 1,
    message: "a b␛[2J",
  })
})

test("SESSIONS_DEBUG=1 prints the stack", async () => {
  const { exit, stderr } = await createCli({ env: { SESSIONS_DEBUG: "1" } })("show", "missing")
  expect(exit).toBe(1)
  expect(stderr).toMatch(/^sessions: .*\n(.*\n)* +at /)
})

test("a closed pipe is not an error and prints nothing", async () => {
  const { io, stderr } = captured({})
  const closed = Object.assign(new Error("write EPIPE"), { code: "EPIPE" })
  const exit = await run(["--help"], { ...io, stdout: { isTerminal: false, write: () => Promise.reject(closed) } })
  expect({ exit, stderr: stderr() }).toEqual({ exit: 0, stderr: "" })
})

test("an interrupt has the exit status that shells use", () => {
  const abort = new AbortController()
  abort.abort()
  expect(toFailure(abort.signal.reason)).toEqual({ exit: 130, message: "interrupted." })
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
  expect({ exit, stderr: stderr() }).toEqual({ exit: 130, stderr: "sessions: interrupted.\n" })
})

test("an error without a code is a bug, and its message explains how to print the stack", () => {
  expect(toFailure(new TypeError("x is not a function")).message).toMatch(
    /^unexpected error: x is not .*SESSIONS_DEBUG=1/,
  )
})
