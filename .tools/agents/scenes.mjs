// What is tried with each agent: a session that the program itself makes is imported, and our context is compared with the request that the program
// sends when it resumes the session, the session that we write for it, and the one that we write for another agent.
import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { createSessions } from "../../packages/core/src/index.ts"
import { formats, importFile } from "../../packages/formats/src/index.ts"
import { createMemoryStorage } from "../../packages/memory/src/index.ts"
import { rowsOf, rowsOfContext, startModel } from "./model.mjs"
import { writeWorkFiles } from "./programs.mjs"

/** The prompts with which a session is made. A program is started for each. */
export const SCENES = {
  "one question": ["first question"],
  "a call of a tool": ["please CALL the tool"],
  "three turns, two of them with calls": ["please CALL the tool", "second question", "CALL it again"],
  "markup, other scripts and half a line": ["<b>bold</b> & 数据 🌳\n\n```sh\nls\n```\n  indented", "and then?"],
}

const NEXT = "NEXT question"

/** Longer than any start of a program that downloads nothing. */
const PATIENCE = 120_000

/** The lines of a report, and whether all of them hold. `others`: agents that sessions are handed over to. */
export async function runScenes(agent, others) {
  const lines = []
  let failed = 0
  let passed = 0
  const check = (name, expected, found) => {
    if (JSON.stringify(expected) === JSON.stringify(found)) {
      passed++
      return
    }
    failed++
    lines.push(`  differs: ${name}`, ...sideBySide(expected, found))
  }
  for (const [scene, prompts] of Object.entries(SCENES)) {
    const place = workFolder(agent)
    try {
      for (const prompt of prompts) await ask(agent, place, prompt, place.id)
      const { text, id } = sessionIn(agent, place)
      const session = await imported(agent, text)
      const { messages } = await session.context({ repair: "none" })
      const rows = rowsOfContext(messages)
      check(
        `${scene}: what ${agent.title} sends when it resumes its own session`,
        rows,
        await resumedRows(agent, place, id),
      )
      for (const target of [agent, ...others].filter(({ fileOf }) => fileOf !== undefined)) {
        const there = workFolder(target)
        try {
          const given = await handOver(session, target, there)
          const sent = await resumedRows(target, there, given)
          check(
            `${scene}: what ${target.title} sends of it`,
            moved(rows, place.folder, there.folder),
            moved(sent, place.folder, there.folder),
          )
        } finally {
          rmSync(there.folder, { recursive: true, force: true })
        }
      }
    } catch (error) {
      failed++
      lines.push(`  failed: ${scene}: ${error.message}`)
    } finally {
      rmSync(place.folder, { recursive: true, force: true })
    }
  }
  return { lines, passed, failed }
}

function workFolder({ prepare }) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "agents-")))
  prepare?.(folder)
  writeWorkFiles(folder)
  return { folder, id: undefined }
}

/** Asks the agent, and remembers the session for the next prompt. The requests of the program, in order. */
async function ask(agent, place, prompt, id) {
  const model = await startModel(agent.tool(place.folder))
  try {
    const { program, args, env } = agent.command({
      program: agent.at,
      url: model.url,
      folder: place.folder,
      prompt,
      id,
    })
    await ended(program, args, place.folder, env, agent.title)
    place.id = sessionIn(agent, place).id
    return model.requests
  } finally {
    model.close()
  }
}

async function resumedRows(agent, place, id) {
  const requests = await ask(agent, place, NEXT, id)
  const request = requests.find((one) => rowsOf(one).some((row) => row === `user ${NEXT}`))
  if (request === undefined) throw new Error(`${agent.title} sent no request with the next question.`)
  return rowsOf(request).filter((row) => row !== `user ${NEXT}`)
}

function ended(program, args, cwd, env, title) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      env: { PATH: process.env.PATH, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    })
    let output = ""
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk))
    const timer = setTimeout(() => child.kill("SIGKILL"), PATIENCE)
    child.once("error", reject)
    child.once("close", (code) => {
      clearTimeout(timer)
      if (code === 0) resolve()
      else reject(new Error(`${title} ended with ${code}: ${output.slice(-1000)}`))
    })
  })
}

/** The only session of the agent in the folder. */
function sessionIn(agent, { folder }) {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
  const [file] = files.map((path) => path.replaceAll("\\", "/")).filter((path) => agent.isSession(path))
  if (file === undefined) throw new Error(`${agent.title} has written no session.`)
  const text = readFileSync(join(folder, file), "utf8")
  return { text, id: agent.idOf(file, text) }
}

async function imported(agent, text) {
  const sessions = createSessions({ storage: createMemoryStorage() })
  const source = async function* () {
    yield text
  }
  const { id, from } = await importFile(sessions, source, { from: formats })
  if (from.format !== agent.format)
    throw new Error(`The session of ${agent.title} was taken for one of ${from.format}.`)
  return await sessions.open(id)
}

const HANDED_OVER = "01a2030c-fea7-4193-9a6e-fdda384b770f"

async function handOver(session, target, { folder }) {
  const { write } = formats.find(({ format }) => format === target.format)
  const file = target.fileOf({ folder, id: HANDED_OVER, createdAt: session.header.timestamp })
  mkdirSync(dirname(file), { recursive: true })
  let text = ""
  const source = { header: session.header, entries: () => session.entries() }
  for await (const piece of write(source, { id: HANDED_OVER, cwd: folder, branches: "path" })) text += piece
  writeFileSync(file, text)
  return HANDED_OVER
}

/** Calls name files in the folder of the session that was handed over. */
function moved(rows, from, to) {
  return rows.map((row) => row.replaceAll(to, from))
}

function sideBySide(expected, found) {
  const width = 70
  const cut = (row = "") =>
    (row.length > width ? `${row.slice(0, width - 1)}…` : row).replaceAll("\n", "⏎").padEnd(width)
  const count = Math.max(expected.length, found.length)
  return [
    `    ${"our context".padEnd(width)} | the request`,
    ...Array.from({ length: count }, (_, i) => {
      const mark = expected[i] === found[i] ? " " : "*"
      return `  ${mark} ${cut(expected[i])} | ${cut(found[i]).trimEnd()}`
    }),
  ]
}
