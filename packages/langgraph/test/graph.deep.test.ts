/** A graph that is resumed in another process. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { SessionsSaver } from "@sessions/langgraph"
import { expect, test } from "vitest"
import { newFolder } from "./folders.ts"
import { CONFIG, createGraph } from "./graph.ts"
import { FLAGS } from "../../../.config/program.ts"

const PROGRAM = fileURLToPath(new URL("graph-process.ts", import.meta.url))

interface Started {
  readonly child: ChildProcess
  readonly output: () => string
  readonly ended: Promise<unknown>
}

function start(...args: readonly string[]): Started {
  const child = spawn(process.execPath, [...FLAGS, PROGRAM, ...args], { stdio: ["pipe", "pipe", "inherit"] })
  let text = ""
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk))
  return { child, output: () => text, ended: once(child, "close") }
}

test("a graph that waits at an interrupt is resumed by another process after the first was killed", async () => {
  const root = newFolder()
  const first = start(root, "start")
  await expect.poll(() => first.child.exitCode !== null || first.output().endsWith("\n"), { interval: 5 }).toBe(true)
  first.child.kill("SIGKILL")
  await first.ended
  expect(JSON.parse(first.output())).toMatchObject({ steps: ["plan Paris"], __interrupt__: [{ value: "Book Paris?" }] })

  const second = start(root, "resume", "yes")
  second.child.stdin?.end()
  await second.ended
  const steps = ["plan Paris", "asked: yes", "booked Paris"]
  expect(JSON.parse(second.output())).toEqual({ place: "Paris", answer: "yes", steps })

  const sessions = createSessions({ storage: createFileStorage({ root }) })
  const state = await createGraph(new SessionsSaver({ sessions })).getState(CONFIG)
  expect(state.values).toEqual({ place: "Paris", answer: "yes", steps })
  expect(state.next).toEqual([])
  await sessions.close()
})
