import { existsSync } from "node:fs"
import { mkdtemp, realpath, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { SessionInfo } from "@sessions/core"
import type { CallOptions } from "@sessions/core/storage"
import { type Loss, sessionIdOf } from "@sessions/formats"
import type { Place } from "../agents/agent.ts"
import { systemOf, TARGETS } from "../agents/table.ts"
import { type Command, defineCommand } from "../command.ts"
import { CommandError, UsageError } from "../errors.ts"
import type { Io } from "../io.ts"
import { makeFolder, writeNewFile } from "../files/read-write.ts"
import { lossLines, writtenText } from "../files/write-as.ts"
import { formatBytes } from "../output/format.ts"
import { type Line, styled, writeLines } from "../output/lines.ts"
import { titleText } from "../output/messages.ts"
import { choiceOption } from "../option-values.ts"
import { runProgram } from "../shell-command.ts"
import { agentIdOf } from "../store/agent-ids.ts"
import { conversationOf } from "../store/conversation.ts"
import { absoluteFolder } from "../store/resolve.ts"

const NAMES = TARGETS.map(({ format }) => format.format)

export const handoff: Command = defineCommand({
  name: "handoff",
  summary: "write a session where another agent keeps its own, and print the command that resumes it there",
  args: ["ID"],
  options: {
    to: { type: "string", value: "FORMAT", choices: NAMES, help: `the agent: ${NAMES.join(", ")}` },
    cwd: { type: "string", value: "PATH", help: "the folder to resume in (default: the session's)" },
    "dry-run": { type: "boolean", help: "write nothing; say what would be written, and what it would not hold" },
  },
  notes: [
    "Writes the current path as a new session of the agent. The session itself is not changed; what the agent adds is not read back until",
    "its file is imported. A repeated hand-off of an unchanged session finds its file and prints the command again.",
    "opencode keeps its sessions in a database: its own command imports the session, in the folder to resume in.",
    "Claude Code and Gemini CLI delete sessions after 30 days without use, unless their settings say otherwise.",
  ],
  examples: ["handoff @last --to claude-code", "handoff 01JGN3 --to claude-code --dry-run"],
  async run({ sessions, resolveSession, args: [ref = ""], values, io, json, callOptions, progress }) {
    const to = choiceOption("to", values.to, NAMES, undefined)
    if (to === undefined) throw new UsageError(`handoff needs --to with one of ${NAMES.join(", ")}.`)
    const agent = TARGETS.find(({ format }) => format.format === to)
    if (agent === undefined) throw new UsageError(`handoff cannot write ${to}.`)
    const session = await sessions.open(await resolveSession(ref), callOptions)
    progress.update(() => `writing ${session.id} for ${to}`)
    const info = await session.info()
    const folder = values.cwd ?? info.cwd
    if (folder === undefined) throw new CommandError(`${session.id} has no folder; add --cwd PATH.`)
    // Agents name folders as the system does, without links. A folder of another machine stays as it is.
    const given = absoluteFolder(folder, io.cwd)
    const cwd = await realpath(given).catch(() => given)
    // The same for the same lines and folder, so that a repeated hand-off finds its file.
    const uuid = await uuidFor(`${session.id}@${session.head.log}/${session.head.next} ${cwd}`)
    const id = (await agent.idOf?.(uuid, info.createdAt)) ?? uuid
    const place = await agent.place({ id, cwd, createdAt: info.createdAt }, systemOf(io))
    const losses: Loss[] = []
    const conversation = await conversationOf(sessions, session.id, callOptions)
    const source = conversation === sessions ? session : await conversation.open(session.id, callOptions)
    const text = writtenText(agent.format, source, {
      id,
      cwd,
      branches: "path",
      note: (loss) => losses.push(loss),
      ...callOptions,
    })
    const { importer, format } = agent
    const isThere = importer === undefined && existsSync(place.file)
    const isDry = values["dry-run"] === true
    let bytes = 0
    if (isDry || isThere) for await (const piece of text) bytes += new TextEncoder().encode(piece).length
    else if (importer !== undefined)
      bytes = await importedBy(importer, { name: place.file, text, cwd }, io, callOptions)
    else {
      await makeFolder(dirname(place.file), io.cwd)
      if (place.marker !== undefined) await writeMarker(place.marker, io.cwd)
      bytes = await writeNewFile(place.file, io.cwd, text)
    }
    // Of the message itself: the information of a session has no time that is in the future.
    const [last] = to === "opencode" ? (await source.messages({ limit: 1, ...callOptions })).messages : []
    if (last !== undefined && Date.parse(last.timestamp) > Date.now()) losses.push(inFuture(last.timestamp))
    await progress.clear()
    const agentId = await agentIdOf(sessions, session.id)
    if (!json) await writeLines(io.stderr, [...sourceLines(info, agentId), ...lossLines(losses)], io.env)
    const size = formatBytes(bytes)
    const verb = isDry ? "would write" : isThere ? "was written before:" : "wrote"
    const done =
      importer === undefined
        ? `${verb} ${place.file} (${size})`
        : `${isDry ? "would import" : "imported"} ${id} into ${format.title} (${size})`
    return {
      json: {
        id: session.id,
        ...(agentId === undefined ? {} : { agentId }),
        to,
        targetId: id,
        ...(importer === undefined ? { file: place.file } : {}),
        bytes,
        resume: place.resume,
        losses,
        written: !isDry && !isThere,
      },
      text: (): Line[] => [done, place.resume],
    }
  },
})

/** The session as the agent that it came from names it. */
function sourceLines(info: SessionInfo, agentId: string | undefined): Line[] {
  const known = [agentId, titleText(info)].filter((part) => part !== undefined)
  return known.length === 0 ? [] : [styled("dim", `session: ${known.join("  ")}`)]
}

/** opencode takes an answer of the future for one to what is asked now. */
function inFuture(time: string): Loss {
  const message = `The last message is of ${time}, which is in the future: opencode sends nothing to a model until then.`
  return { what: "times", count: 1, message }
}

/** Gives the agent's own command a temporary file. It runs in the session's folder, to which the agent then adds the session. */
async function importedBy(
  importer: readonly [string, ...string[]],
  { name, text, cwd }: { readonly name: string; readonly text: AsyncIterable<string>; readonly cwd: string },
  io: Io,
  { signal }: CallOptions,
): Promise<number> {
  if (!existsSync(cwd)) throw new CommandError(`there is no folder ${cwd}; add --cwd PATH.`)
  const folder = await mkdtemp(join(tmpdir(), "sessions-handoff-"))
  try {
    const file = join(folder, name)
    const bytes = await writeNewFile(file, io.cwd, text)
    await runProgram([...importer, file], cwd, io, signal ?? new AbortController().signal)
    return bytes
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    const command = importer.join(" ")
    const message = `${command} did not take the session: ${error.message} To import it by hand, write it with export --format and --out.`
    throw new CommandError(message, { cause: error })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The agent itself writes the same text. */
async function writeMarker({ file, text }: NonNullable<Place["marker"]>, cwd: string): Promise<void> {
  if (existsSync(file)) return
  await makeFolder(dirname(file), cwd)
  await writeNewFile(
    file,
    cwd,
    (async function* () {
      yield text
    })(),
  )
}

/** A UUID that follows from a text. */
async function uuidFor(text: string): Promise<string> {
  const hex = (await sessionIdOf("", text)).slice(1)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
