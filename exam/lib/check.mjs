/** What the graders share. A grader is a program beside the folder `solution`: it ends with 0 if the solution is right. */
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { createSessions } from "@sessions/core"
import { verifySession } from "@sessions/core/transfer"
import { createFileStorage } from "@sessions/fs"

export { assert }

const folders = []
const children = new Set()
process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL")
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})
for (const event of ["uncaughtException", "unhandledRejection"])
  process.on(event, (error) => {
    console.error(`WRONG: ${error instanceof assert.AssertionError ? error.message : (error?.stack ?? error)}`)
    process.exit(1)
  })

export function makeFolder() {
  const folder = mkdtempSync(join(tmpdir(), "exam-"))
  folders.push(folder)
  return folder
}

export function solutionFile(name) {
  const file = join(process.cwd(), "solution", name)
  assert.ok(existsSync(file), `there is no ${name}`)
  return file
}

/** A module of the solution. */
export function load(name) {
  return import(pathToFileURL(solutionFile(name)).href)
}

/** Starts a program of the solution; `done` resolves with what it printed. */
export function start(name, args = [], env = {}) {
  const child = spawn(process.execPath, [solutionFile(name), ...args], {
    cwd: makeFolder(),
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  })
  children.add(child)
  let [out, err] = ["", ""]
  child.stdout.setEncoding("utf8").on("data", (text) => (out += text))
  child.stderr.setEncoding("utf8").on("data", (text) => (err += text))
  const done = new Promise((resolve) => {
    child.on("close", (code, signal) => {
      children.delete(child)
      resolve({ code, signal, out, err })
    })
  })
  return { child, done, printed: () => out }
}

/** Runs a program of the solution to its end, which must be a good one. Returns what it printed, without the space around. */
export async function runProgram(name, args = [], env = {}) {
  const { code, out, err } = await start(name, args, env).done
  assert.equal(code, 0, `${name} ${args.join(" ")} ended with ${code}: ${err}`)
  return out.trim()
}

export async function until(condition, what) {
  const end = Date.now() + 60_000
  while (!(await condition())) {
    assert.ok(Date.now() < end, `${what}: it has not happened within 60 s`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** The repository that a solution keeps in a folder. */
export function openFiles(root) {
  return createSessions({ storage: createFileStorage({ root }) })
}

export async function everySession(sessions, options = {}) {
  const found = []
  let cursor
  do {
    const page = await sessions.list({ ...options, limit: 200, ...(cursor && { cursor }) })
    found.push(...page.sessions)
    cursor = page.next
  } while (cursor)
  return found
}

/** The only session of a repository. */
export async function theSession(sessions) {
  const all = await everySession(sessions)
  assert.equal(all.length, 1, `the storage has ${all.length} sessions, not 1`)
  return sessions.open(all[0].id)
}

/** `user: hello`, one for each message. */
export function linesOf(messages) {
  return messages.map(({ message }) => `${message.role}: ${textOf(message.content)}`)
}

export function textOf(content) {
  if (typeof content === "string") return content
  return (content ?? []).map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join("")
}

/** All messages of the current branch, oldest first. */
export async function conversationOf(session) {
  const pages = []
  let before
  do {
    const page = await session.messages({ limit: 1000, ...(before && { before }) })
    pages.unshift(...page.messages)
    before = page.before
  } while (before)
  return pages
}

/** A message must have been acknowledged before a process was killed, so the log has no damage. */
export async function checkUndamaged(sessions) {
  for (const { id } of await everySession(sessions)) {
    const { damaged, diagnostics } = await verifySession(sessions, id)
    assert.ok(!damaged, `the log of ${id} is damaged: ${JSON.stringify(diagnostics)}`)
  }
}
