/** Random sessions for property tests of writers: messages, calls, compactions, branches, edits, deletions, titles, resets. */
import { type ContentBlock, createSessions, type NewEntry, type Session } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import * as fc from "fast-check"

/** One call of the session. Numbers choose among the entries that it has. */
export type Op =
  | { readonly op: "say"; readonly role: "user" | "assistant"; readonly text: string }
  | { readonly op: "call"; readonly text: string; readonly isError: boolean }
  | { readonly op: "branch" | "edit" | "hide" | "delete" | "compact" | "label"; readonly at: number }
  | { readonly op: "reset" | "model" | "note" | "summary" }
  | { readonly op: "title"; readonly text: string }

const text = fc.string({ unit: "grapheme", maxLength: 12 }).map((value) => `t${value}`)

export const ops: fc.Arbitrary<readonly Op[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        op: fc.constant("say" as const),
        role: fc.constantFrom("user" as const, "assistant" as const),
        text,
      }),
    },
    { weight: 2, arbitrary: fc.record({ op: fc.constant("call" as const), text, isError: fc.boolean() }) },
    {
      weight: 3,
      arbitrary: fc.record({
        op: fc.constantFrom(...(["branch", "edit", "hide", "delete", "compact", "label"] as const)),
        at: fc.nat(30),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ op: fc.constantFrom(...(["reset", "model", "note", "summary"] as const)) }),
    },
    { weight: 1, arbitrary: fc.record({ op: fc.constant("title" as const), text }) },
  ),
  { minLength: 1, maxLength: 25 },
)

export async function sessionOf(list: readonly Op[]): Promise<Session> {
  const session = await createSessions({ storage: createMemoryStorage() }).create({ cwd: "/work" })
  await continued(session, list)
  return session
}

/** The ids of calls are not those of a file. */
const FIRST_CALL = 100

/** Runs the calls on a session that may have entries. */
export async function continued(session: Session, list: readonly Op[]): Promise<void> {
  let ids: string[] = []
  const results = new Set<string>()
  for await (const entry of session.entries()) {
    // A compaction that keeps what is before a reset is not written by every format.
    if (entry.type === "reset_boundary") ids = []
    // An entry that the file's own compaction does not keep stays left out.
    if (entry.type === "context_edit") ids = ids.filter((id) => id !== entry.targetId)
    if (entry.type !== "message") continue
    ids.push(entry.id)
    if (entry.message.role === "toolResult") results.add(entry.id)
  }
  const state: State = { messages: ids, since: 0, calls: FIRST_CALL, results }
  for (const op of list) await run(session, op, state)
}

interface State {
  /** Ids of entries with a message. */
  messages: string[]
  /** How many of them are before the last reset. */
  since: number
  calls: number
  /** Ids of tool results: not every format can keep one without its call. */
  results: Set<string>
}

async function run(session: Session, op: Op, state: State): Promise<void> {
  const append = async (...entries: NewEntry[]) => state.messages.push(...(await session.append(entries)).ids)
  const chosen = (at: number) => state.messages[at % Math.max(1, state.messages.length)]
  switch (op.op) {
    case "say":
      await append({ type: "message", message: { role: op.role, content: textOf(op.text), ...modelOf(op.role) } })
      return
    case "call": {
      const id = `c${++state.calls}`
      const call = { type: "toolCall", id, name: "bash", arguments: { command: op.text } } as const
      const content = [{ type: "thinking", thinking: "hm", signature: "sig" }, call] as const
      await append(
        { type: "message", message: { role: "assistant", content, ...modelOf("assistant") } },
        {
          type: "message",
          message: {
            role: "toolResult",
            toolCallId: id,
            toolName: "bash",
            isError: op.isError,
            content: textOf(op.text),
          },
        },
      )
      state.results.add(state.messages.at(-1) ?? "")
      return
    }
    case "branch": {
      const id = chosen(op.at)
      if (id !== undefined) await session.branch(id)
      return
    }
    case "edit":
    case "hide": {
      const id = chosen(op.at)
      if (id !== undefined) await session.edit(id, op.op === "hide" ? null : { content: textOf("edited") })
      return
    }
    case "delete": {
      const id = chosen(op.at)
      if (id !== undefined) await session.tombstone(id)
      return
    }
    case "label": {
      const id = chosen(op.at)
      if (id !== undefined) await session.label(id, "here")
      return
    }
    case "compact": {
      const path = state.messages.slice(state.since).filter((id) => !state.results.has(id))
      const firstKeptEntryId = path[op.at % Math.max(1, path.length)]
      if (firstKeptEntryId === undefined) return
      const files = { readFiles: ["a.ts"], modifiedFiles: [] }
      await session.append({ type: "compaction", summary: "S", firstKeptEntryId, tokensBefore: 9, ...files })
      return
    }
    case "reset":
      await session.append({ type: "reset_boundary" })
      state.since = state.messages.length
      return
    case "model":
      await session.append({ type: "model_change", provider: "anthropic", model: "m2" })
      return
    case "note":
      await append({ type: "custom_message", customType: "note", content: textOf("note"), display: true })
      return
    case "summary":
      await session.append({ type: "branch_summary", fromId: "root", summary: "B" })
      return
    case "title":
      await session.title(op.text)
  }
}

function textOf(value: string): readonly ContentBlock[] {
  return [{ type: "text", text: value }]
}

function modelOf(role: string): object {
  return role === "assistant" ? { provider: "anthropic", model: "m" } : {}
}

/** Role and content of each message of the context. */
export async function contextOf(
  session: Session,
  o: Parameters<Session["context"]>[0] = { repair: "none" },
): Promise<readonly string[]> {
  const { messages } = await session.context(o)
  return messages.map(({ message: { role, content } }) => `${role} ${JSON.stringify(content.map(shownBlock))}`)
}

/** What a model sees of a block, whatever the program calls its fields. */
export function shownBlock(block: ContentBlock): unknown {
  const fields = block as unknown as Record<string, unknown>
  if (block.type === "text") return fields["text"]
  if (block.type === "thinking") return { thinking: fields["thinking"] }
  if (block.type === "toolCall") return { call: fields["id"], name: fields["name"], arguments: fields["arguments"] }
  return { type: block.type }
}
