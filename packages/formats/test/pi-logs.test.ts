/**
 * Random logs that pi's own code writes have the same context in core as in pi, in the three versions of its format. `PI_PACKAGE` names a
 * folder in which `@earendil-works/pi-coding-agent` 1.6 is installed.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { createSessions } from "@sessions/core"
import { importSession } from "@sessions/core/transfer"
import { createMemoryStorage } from "@sessions/memory"
import * as fc from "fast-check"
import { expect, test } from "vitest"

const packageFolder = process.env["PI_PACKAGE"]
if (packageFolder === undefined)
  console.info("Skipped: logs of pi. PI_PACKAGE names no folder with @earendil-works/pi-coding-agent 1.6.")

const RUNS = Number(process.env["FC_RUNS"] ?? 300)

type Fields = Readonly<Record<string, unknown>>
type Message = Fields & { readonly role: string; readonly content: string | readonly Fields[] }

/** What the test calls of pi's session manager. */
interface Manager {
  appendMessage(message: Fields): string
  appendModelChange(provider: string, modelId: string): string
  appendThinkingLevelChange(level: string): string
  appendCompaction(summary: string, firstKeptEntryId: string, tokensBefore: number): string
  appendCustomEntry(type: string, data: unknown): string
  appendCustomMessageEntry(type: string, content: string, display: boolean): string
  appendSessionInfo(name: string): string
  appendLabelChange(target: string, label: string): string
  appendContextEdit(target: string, replacement: { content: readonly Fields[] } | null): string
  branch(id: string): void
  branchWithSummary(id: string, summary: string): string
  resetLeaf(): void
  getBranch(): readonly Fields[]
  getHeader(): Fields
  getEntries(): readonly Fields[]
  buildSessionContext(): { readonly messages: readonly Message[] }
}

interface Pi {
  readonly SessionManager: { inMemory(cwd: string): Manager; open(path: string): Manager }
  readonly convertToLlm: (messages: readonly Message[]) => readonly Message[]
  readonly getSystemMessageText: (message: Message) => string
  readonly renderSystemMessageUpdate: (message: Message) => string
}

async function loadPi(): Promise<Pi> {
  const packages = join(packageFolder ?? "", "node_modules", "@earendil-works")
  const load = async (name: string) => (await import(pathToFileURL(join(packages, name)).href)) as Partial<Pi>
  return {
    ...(await load("pi-coding-agent/dist/core/session-manager.js")),
    ...(await load("pi-coding-agent/dist/core/messages.js")),
    ...(await load("pi-ai/dist/utils/text.js")),
  } as Pi
}

const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }).map((value) => `t${value}`)
/** Chooses among the entries of the log. */
const at = fc.nat(40)
const opOf = (...names: readonly string[]) => fc.record({ op: fc.constantFrom(...names), text, at })
const rare = [
  "model",
  "thinking",
  "custom",
  "customMessage",
  "name",
  "label",
  "edit",
  "hide",
  "reset",
  "system",
  "prompt",
]
const ops = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: opOf("user", "image", "assistant", "call", "bash") },
    { weight: 2, arbitrary: opOf("branch", "branchSummary", "compact") },
    { weight: 2, arbitrary: opOf(...rare) },
  ),
  { minLength: 1, maxLength: 30 },
)
type Op = Readonly<{ op: string; text: string; at: number }>

const block = (value: string): Fields => ({ type: "text", text: value })

/** The role of a message, or the type of another entry. */
const kindOf = ({ type, message }: Fields) => String((message as Fields | undefined)?.["role"] ?? type)

class Player {
  readonly #pi: Manager
  /** Entries that others can refer to. */
  readonly #ids: string[] = []
  #calls = 0
  #time = 1_750_000_000_000

  constructor(pi: Manager) {
    this.#pi = pi
  }

  play({ op, text: value, at: number }: Op): void {
    const pi = this.#pi
    const path = pi.getBranch()
    const chosen = this.#ids[number % Math.max(1, this.#ids.length)]
    switch (op) {
      case "user":
        return this.#say({ role: "user", content: number % 2 === 0 ? value : [block(value)] })
      case "image":
        return this.#say({
          role: "user",
          content: [block(value), { type: "image", data: "aGk=", mimeType: "image/png" }],
        })
      case "system":
        return this.#say({ role: "system", content: value })
      case "prompt":
        return this.#say({ role: "system", content: "", sections: { a: value, b: number % 3 === 0 ? null : value } })
      case "assistant":
        return this.#answer([block(value)])
      case "call": {
        const id = `call${++this.#calls}`
        this.#answer([block(value), { type: "toolCall", id, name: "bash", arguments: { command: value } }])
        // On a branch from the call itself core adds a result, which pi leaves to the code of each provider.
        this.#ids.pop()
        const result = { toolCallId: id, toolName: "bash", content: [block(value)], isError: number % 5 === 0 }
        return this.#say({ role: "toolResult", ...result })
      }
      case "bash": {
        const result = {
          exitCode: number % 3,
          cancelled: false,
          truncated: false,
          excludeFromContext: number % 7 === 0,
        }
        return this.#say({ role: "bashExecution", command: value, output: value, ...result })
      }
      case "model":
        return void pi.appendModelChange("anthropic", value)
      case "thinking":
        return void pi.appendThinkingLevelChange("high")
      case "custom":
        return void pi.appendCustomEntry("x", { value })
      case "customMessage":
        return void this.#ids.push(pi.appendCustomMessageEntry("x", value, true))
      case "name":
        return void pi.appendSessionInfo(value)
      case "reset":
        return pi.resetLeaf()
      case "compact": {
        // pi's compaction has the whole prompt; system messages of the kept part stay in their place in core.
        const since = path.slice(path.findLastIndex((entry) => kindOf(entry) === "system") + 1)
        const kept = since.filter((entry) => ["user", "assistant", "custom_message"].includes(kindOf(entry)))
        const first = kept[number % Math.max(1, kept.length)]
        return void (first && pi.appendCompaction(value, String(first["id"]), 10))
      }
    }
    if (chosen === undefined) return
    switch (op) {
      case "branch":
        return pi.branch(chosen)
      case "branchSummary":
        return void this.#ids.push(pi.branchWithSummary(chosen, value))
      case "label":
        return void pi.appendLabelChange(chosen, value)
    }
    const target = path.find(({ id }) => id === chosen)
    // A call without its result is as above.
    const editable = ["user", "assistant", "custom_message", ...(op === "edit" ? ["toolResult"] : [])]
    if (target === undefined || !editable.includes(kindOf(target))) return
    pi.appendContextEdit(chosen, op === "hide" ? null : { content: [block(value)] })
  }

  #say(message: Fields): void {
    this.#ids.push(this.#pi.appendMessage({ ...message, timestamp: (this.#time += 1000) }))
  }

  #answer(content: readonly Fields[]): void {
    const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: { total: 0 } }
    const model = { api: "anthropic-messages", provider: "anthropic", model: "m", usage, stopReason: "stop" }
    this.#say({ role: "assistant", content, ...model })
  }
}

/** The same log as pi's version 2, or, if it has neither branches nor what came later, as its version 1. */
function olderForms(log: readonly Fields[]): readonly (readonly Fields[])[] {
  const [header, ...entries] = log
  const forms = [log, [{ ...header, version: 2 }, ...entries]]
  const isList = entries.every(({ parentId }, index) => parentId === (entries[index - 1]?.["id"] ?? null))
  if (!isList || entries.some(({ type }) => type === "context_edit" || type === "label")) return forms
  const { version: _, ...rest } = header ?? {}
  const old = entries.map((current) => {
    const { id: _, parentId: __, firstKeptEntryId, ...entry } = current
    const index = entries.findIndex(({ id }) => id === firstKeptEntryId)
    return index < 0 ? entry : { ...entry, firstKeptEntryIndex: index + 1 }
  })
  return [...forms, [rest, ...old]]
}

function shown({ role, content }: Message): string {
  const blocks = typeof content === "string" ? [block(content)] : content
  const parts = blocks.map(({ type, text: said, data, name, arguments: input }) => ({ type, said, data, name, input }))
  return `${role} ${JSON.stringify(parts)}`
}

/** Our frames of commands and of summaries of branches have other words. */
function inOurWords(line: string): string {
  return line
    .replaceAll(/(?:\\n){2}Command exited with code (\d+)/g, "\\nExit code: $1")
    .replaceAll(/(?:\\n)?<\/summary>/g, "\\n</summary>")
}

test.skipIf(packageFolder === undefined)("a log of pi has the context that pi sends", async () => {
  const pi = await loadPi()
  const folder = mkdtempSync(join(tmpdir(), "pi-logs-"))
  const file = join(folder, "session.jsonl")

  /** As pi's code for providers writes system messages: the first whole, later ones as changes. */
  const withPrompts = (messages: readonly Message[]): readonly Message[] => {
    const first = messages.findIndex(({ role }) => role === "system")
    return messages.map((message, index) => {
      if (message.role !== "system") return message
      const toText = index === first ? pi.getSystemMessageText : pi.renderSystemMessageUpdate
      return { ...message, content: toText(message) }
    })
  }
  const theirContext = () =>
    withPrompts(pi.convertToLlm(pi.SessionManager.open(file).buildSessionContext().messages))
      .map(shown)
      .map(inOurWords)
  const ourContext = async () => {
    const sessions = createSessions({ storage: createMemoryStorage() })
    const { id } = await importSession(sessions, readFileSync(file))
    const { messages } = await (await sessions.open(id)).context()
    return messages.map(({ message }) => shown(message as unknown as Message))
  }

  try {
    let logs = 0
    await fc.assert(
      fc.asyncProperty(ops, async (list) => {
        const written = pi.SessionManager.inMemory("/w")
        const player = new Player(written)
        for (const op of list) player.play(op)
        for (const log of olderForms([written.getHeader(), ...written.getEntries()])) {
          writeFileSync(file, `${log.map((line) => JSON.stringify(line)).join("\n")}\n`)
          const ours = await ourContext()
          // pi migrates the file in place.
          expect(ours).toEqual(theirContext())
          logs++
        }
      }),
      { numRuns: RUNS },
    )
    console.info(`${logs} logs compared`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
