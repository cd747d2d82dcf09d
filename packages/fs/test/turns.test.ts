/** Turns with a lease in processes of their own, of which one is stopped by the system for longer than its lease. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { createSessions } from "@sessions/core"
import { sessionBranches } from "@sessions/core/transfer"
import { expect, onTestFinished, test } from "vitest"
import { FLAGS } from "../../../.config/program.ts"
import { makeRoot, openAt } from "./helpers.ts"

const PROGRAM = fileURLToPath(new URL("turns-process.ts", import.meta.url))

const hasStates = fs.existsSync("/proc/self/stat")
if (!hasStates) console.log("The test of a stopped process is left out: this system has no /proc to see its state in.")

test("of two processes that ask at once one answers first, and the other has read it", async () => {
  const root = await makeSession()
  const children = [start(root, "asks", "one"), start(root, "asks", "two")]
  const said = await Promise.all(children.map(allOf))
  expect(said.map((lines) => lines.at(-1))).toEqual(["done", "done"])
  expect(new Set(said.map(([, asked]) => asked))).toEqual(new Set(["asked behind 0", "asked behind 2"]))
  const first = said[0]?.includes("asked behind 0") ? ["one", "two"] : ["two", "one"]
  expect(await conversation(root)).toEqual({ texts: first.flatMap((text) => [text, `to ${text}`]), branches: 1 })
})

test.skipIf(!hasStates)(
  "a process that is stopped for longer than its lease writes nothing into the turn of another one, and learns that",
  async () => {
    const root = await makeSession()
    const stopped = start(root, "stops", "one")
    const lines = createInterface({ input: stopped.stdout as NonNullable<typeof stopped.stdout> })
    const said = lines[Symbol.asyncIterator]()
    expect([(await said.next()).value, (await said.next()).value]).toEqual(["ready", "asked behind 0"])
    await expect.poll(() => stateOf(stopped.pid ?? 0)).toBe("T")
    expect(await allOf(start(root, "asks", "two"))).toEqual(["ready", "asked behind 1", "done"])
    stopped.kill("SIGCONT")
    expect(new Set([(await said.next()).value, (await said.next()).value])).toEqual(new Set(["conflict", "told"]))
    if (stopped.exitCode === null) await once(stopped, "exit")
    expect(await conversation(root)).toEqual({ texts: ["one", "two", "to two"], branches: 1 })
  },
)

async function makeSession(): Promise<string> {
  const root = makeRoot()
  await createSessions({ storage: openAt(root).storage }).create({ id: "chat" })
  return root
}

function start(root: string, what: "asks" | "stops", text: string): ChildProcess {
  const child = spawn(process.execPath, [...FLAGS, PROGRAM, root, what, text], { stdio: ["ignore", "pipe", "inherit"] })
  onTestFinished(() => void child.kill("SIGKILL"))
  return child
}

async function allOf({ stdout }: ChildProcess): Promise<readonly string[]> {
  const lines: string[] = []
  for await (const line of createInterface({ input: stdout as NonNullable<typeof stdout> })) lines.push(line)
  return lines
}

async function conversation(root: string): Promise<{ readonly texts: readonly string[]; readonly branches: number }> {
  const session = await createSessions({ storage: openAt(root).storage }).open("chat")
  const { messages } = await session.messages()
  const texts = messages.map(({ message }) => (message.content as readonly { text: string }[])[0]?.text ?? "")
  return { texts, branches: (await sessionBranches(session)).length }
}

/** One letter; `T` for a process that is stopped. */
function stateOf(pid: number): string | undefined {
  const stat = fs.readFileSync(`/proc/${pid}/stat`, "utf8")
  return stat.slice(stat.lastIndexOf(")") + 2).at(0)
}
