// Plays a scene with an agent: the agent makes a session, it is imported, and our context is compared with the request that the agent sends when it resumes
// it, and with those of the sessions that we write for it and for another agent.
import {
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { createSessions } from "../../packages/core/src/index.ts"
import { unknownRecordOf } from "../../packages/formats/src/base/record-types.ts"
import { createMemoryStorage } from "../../packages/memory/src/index.ts"
import { describe } from "../../packages/cli/src/agents/session-files.ts"
import { AGENTS as KNOWN, TARGETS } from "../../packages/cli/src/agents/table.ts"
import { besideFile } from "../../packages/cli/src/files/beside.ts"
import { importOne } from "../../packages/cli/src/files/import-one.ts"
import { rowsOf } from "./apis.mjs"
import { startModel } from "./model.mjs"
import { inOrderOfCalls, rowsOfContext, withSummaries } from "./rows.mjs"
import { runProgram } from "./run-program.mjs"
import { featuresOf, HANG, NOTES, PICTURE, SKILL } from "./scenes.mjs"

const NEXT = "NEXT question"

/** Why the agent does not play the scene. */
export function absenceOf(agent, scene) {
  const features = featuresOf(scene)
  if (features.includes("skill") && agent.skills === undefined) return "skill: the driver knows no folder of skills"
  const missing = features.find((feature) => agent.cannot?.[feature] !== undefined)
  return missing === undefined ? undefined : `${missing}: ${agent.cannot[missing]}`
}

/**
 * Plays the scene, and compares. `check(name, expected, found)` is called for each comparison, and if the file has records of types that our table does not
 * have; `failed(error)` if it could not be played to its end, and `left(folder)` at last for each folder: whether it stays, with the requests that its model
 * got.
 */
export async function play(agent, scene, targets, { check, failed, left }) {
  const place = await newPlace(agent, scene)
  try {
    for (const step of scene.steps) await take(agent, place, step, scene)
    const { session, id } = await imported(agent, place)
    const unknown = await unknownTypes(session)
    if (unknown.length > 0) check("the types of records that our table does not have", [], unknown)
    const context = await session.context({ repair: "none" })
    const rows = cleaned(agent, rowsOfContext(context.messages))
    // A summary at the end has no answer either: to some agents it is a message of the user.
    const ours = { rows, isCutShort: scene.steps.some(cutsShort) || rows.at(-1)?.row.startsWith("user ") === true }
    const sent = await resumedRows(agent, place, id)
    check(`what ${agent.title} sends when it resumes its own session`, ...compared(ours, sent, place, place))
    for (const target of targets) {
      const there = await newPlace(target, scene)
      try {
        const given = await handOver(session, target, there)
        check(
          `what ${target.title} sends of it`,
          ...compared(ours, await resumedRows(target, there, given, agent), place, there),
        )
      } finally {
        leave(there, left)
      }
    }
  } catch (error) {
    failed(error)
  } finally {
    leave(place, left)
  }
}

async function newPlace(agent, { steps }) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "agents-")))
  const [home, work] = ["home", "work"].map((name) => join(root, name))
  mkdirSync(home)
  mkdirSync(work)
  const asked = steps.flatMap(({ ask, answers = [] }) => (ask === undefined ? [] : [[ask.slice(0, 40), answers]]))
  const script = [...asked, [NEXT, []]]
  const place = { agent, root, home, work, id: undefined, known: new Set() }
  const callOf = (block) => callFor(agent, place, block)
  place.model = await startModel({ script, callOf, usage: agent.usage })
  writeFileSync(join(work, NOTES), "pears and plums\n")
  writeFileSync(join(work, PICTURE), Buffer.from(PIXEL, "base64"))
  // A tool that says that it runs, and never ends by itself.
  writeFileSync(join(work, HANG), `await fetch("${place.model.url}/held")\n`)
  if (agent.skills !== undefined) {
    const folder = join(work, agent.skills, SKILL)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, "SKILL.md"), `---\nname: ${SKILL}\ndescription: knows pears\n---\n\nPears are green.\n`)
  }
  place.env = agent.env({ home, work, url: place.model.url, program: agent.at })
  agent.prepare?.({ home, work, url: place.model.url })
  return place
}

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

function callFor(agent, { work }, block) {
  if (block.unknown !== undefined) return { name: block.unknown, input: {} }
  const [kind] = Object.keys(agent.tools).filter((name) => block[name] !== undefined)
  const value = kind === "read" ? join(work, block.read) : block[kind]
  return agent.tools[kind](value)
}

/** A stop leaves a turn without an answer, and so does a model that says nothing: agents add their `repairs` to both. */
function cutsShort({ stop, answers = [] }) {
  return stop !== undefined || answers.some((blocks) => blocks.every((block) => block === ""))
}

function leave({ root, model }, left) {
  model.close()
  if (left(root)) writeFileSync(join(root, "requests.json"), JSON.stringify(model.requests, null, 1))
  else rmSync(root, { recursive: true, force: true, maxRetries: 5 })
}

async function take(agent, place, step, scene) {
  const { ask, act, stop } = step
  if (act === "move") {
    const moved = join(place.root, "moved")
    renameSync(place.work, moved)
    place.work = moved
  } else if (act !== undefined) {
    await agent.acts[act]({
      agent,
      place,
      step,
      ask: (prompt) => runProgram(agent, place, commandOf(agent, place, { prompt })),
    })
  } else {
    if (step.fork && agent.acts.fork !== undefined) {
      await agent.acts.fork({ agent, place, step })
      await remember(agent, place)
    }
    const command = commandOf(agent, place, { ...step, prompt: ask })
    await runProgram(agent, place, command, { stop, mayFail: scene.mayFail })
  }
  await remember(agent, place)
}

function commandOf(agent, place, asked) {
  const { home, work, id, model } = place
  return agent.command({ program: agent.at, url: model.url, home, work, id, ...asked })
}

/** The session that was written last is that of the scene; a fork is a new one. */
async function remember(agent, place) {
  const found = await sessionsOf(agent, place)
  const fresh = found.find(({ id }) => !place.known.has(id)) ?? found[0]
  if (fresh === undefined) throw new Error(`${agent.title} has written no session.`)
  for (const { id } of found) place.known.add(id)
  place.id = fresh.id
  place.session = fresh
}

async function sessionsOf(agent, place) {
  if (agent.sessions !== undefined) return agent.sessions(place)
  const known = KNOWN.find(({ format }) => format.format === agent.format)
  const found = []
  for (const one of await known.sessions({ env: place.env, home: place.home })) {
    if (one.isSubagent === true) continue
    const described = await describe(known.format, one)
    if (described?.id !== undefined) found.push({ ...one, id: described.id })
  }
  return found
}

/** What the agent sends. `writer`: the agent whose session it is. */
async function resumedRows(agent, place, id, writer = agent) {
  const before = place.model.requests.length
  const command = commandOf(agent, place, { prompt: NEXT, id })
  const output = await runProgram(agent, place, command)
  const isNext = ({ row }) => row.startsWith("user ") && row.includes(NEXT)
  const request = place.model.requests.slice(before).find((one) => rowsOf(one).some(isNext))
  if (request === undefined)
    throw new Error(`${agent.title} sent no request with the next question: ${output.slice(-800)}`)
  const { interrupted = writer.interrupted } = agent
  return cleaned({ ...agent, interrupted }, rowsOf(request)).filter((one) => !isNext(one))
}

/** Without what the agent adds to the messages of the user. */
function cleaned({ added = [], interrupted, once = false }, rows) {
  const seen = new Set()
  const isFirst = ({ id, row }) => {
    const isKnown = row.startsWith("result ") && seen.has(id)
    if (row.startsWith("result ")) seen.add(id)
    return !isKnown
  }
  return inOrderOfCalls(withSummaries(rows))
    .filter((one) => !once || isFirst(one))
    .map((one) => (interrupted?.test(one.row) ? { ...one, row: "result (interrupted)" } : one))
    .map(({ row, ...more }) => ({
      ...more,
      row: added
        .reduce((text, one) => text.replace(one, ""), row)
        .replace(/^(user|assistant)\s+/, "$1 ")
        .trim(),
    }))
    .filter(({ row }) => !/^(?:user|assistant)$/.test(row))
}

/**
 * The rows of both, without the agent's own words, and without what it says of a turn that was cut short when it resumes a session: results of calls that
 * have none in our context, and what it answers itself, its `repairs`.
 */
function compared({ rows, isCutShort }, sent, from, { agent: { repairs = [], withoutOpenCalls = false }, work }) {
  const answered = new Set(rows.flatMap(({ id, row }) => (row.startsWith("result ") ? [id] : [])))
  const isOpen = ({ id, row }) => row.startsWith("call ") && !answered.has(id)
  const lastQuestion = rows.findLastIndex(({ row }) => row.startsWith("user "))
  const sentRows = rows.filter((one, at) => !(withoutOpenCalls && at < lastQuestion && isOpen(one)))
  const expected = sentRows.filter(({ isOwn }) => !isOwn).map(({ row }) => row.replaceAll(from.work, "WORK"))
  let open = sentRows.filter(isOpen).length
  const kept = []
  for (const { row: given, isOwn } of sent) {
    const row = given.replaceAll(work, "WORK").replaceAll(from.work, "WORK")
    const next = expected[kept.length]
    const isOurs = row === next
    // What a person types meanwhile, and what background tasks report, is sent among the agent's own words.
    if (isOwn && next?.startsWith("user ") && row.includes(next.slice("user ".length))) kept.push(next)
    else if (isOwn || (isCutShort && !isOurs && repairs.includes(row))) continue
    else if (isCutShort && !isOurs && row.startsWith("result ") && open > 0) open--
    else kept.push(row)
  }
  return from.work === work ? [expected, kept] : [callsFirst(expected), callsFirst(kept)]
}

/** Calls at once are one message to some agents, and to others several, each with its result behind it. */
function callsFirst(rows) {
  const isOfTool = (row = "") => /^(?:call|result) /.test(row)
  const end = rows.findIndex((row, i) => isOfTool(row) && !isOfTool(rows[i + 1])) + 1
  if (end === 0) return rows
  const start = rows.findLastIndex((row, i) => i < end && !isOfTool(row)) + 1
  const run = rows.slice(start, end)
  const [calls, results] = ["call ", "result "].map((kind) => run.filter((row) => row.startsWith(kind)))
  return [...rows.slice(0, start), ...calls, ...results, ...callsFirst(rows.slice(end))]
}

async function imported(agent, place) {
  const sessions = createSessions({ storage: createMemoryStorage() })
  const { file, read, id } = place.session
  const source = read ?? (() => createReadStream(file))
  const result = await importOne(sessions, source, "auto", read === undefined ? { beside: besideFile(file) } : {})
  if (result.from.format !== agent.format)
    throw new Error(`The session of ${agent.title} was taken for one of ${result.from.format}.`)
  return { session: await sessions.open(result.id), id }
}

/** Records of a type that the table of the format does not have are shown as messages. */
async function unknownTypes(session) {
  const found = new Set()
  for await (const entry of session.entries()) {
    const record = unknownRecordOf(entry)
    if (record !== undefined) found.add(record.customType)
  }
  return [...found]
}

const HANDED_OVER = "01a2030c-fea7-4193-8a6e-fdda384b770f"

/** Writes it as `sessions handoff` does. The id in the target. */
async function handOver(session, target, place) {
  const { place: placeOf, idOf, format, importer } = TARGETS.find((one) => one.format.format === target.format)
  const createdAt = session.header.timestamp
  const id = (await idOf?.(HANDED_OVER, createdAt)) ?? HANDED_OVER
  const { file, marker } = await placeOf({ id, cwd: place.work, createdAt }, { env: place.env, home: place.home })
  let text = ""
  const source = { header: session.header, entries: () => session.entries() }
  for await (const piece of format.write(source, { id, cwd: place.work, branches: "path" })) text += piece
  for (const { file: path, text: content } of [
    ...(marker === undefined ? [] : [marker]),
    { file: importer ? join(place.root, file) : file, text },
  ]) {
    mkdirSync(dirname(path), { recursive: true })
    if (!existsSync(path)) writeFileSync(path, content)
  }
  if (importer !== undefined) await runProgram(target, place, { args: [...importer.slice(1), join(place.root, file)] })
  return id
}
