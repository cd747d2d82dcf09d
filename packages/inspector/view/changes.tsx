/** The forms by which a person changes a session: its title, its entries, its leaf. Shown by a server with `--write` alone. */
import type { Entry } from "@sessions/core"
import { createContext, type VNode } from "preact"
import { useContext, useId, useState } from "preact/hooks"
import { fieldsOf, isObject } from "../src/model/fields.ts"
import type { Row } from "../src/model/types.ts"
import type { Changes } from "./source.ts"

/** Undefined: nothing can be changed. */
export const ChangesContext = createContext<Changes | undefined>(undefined)

interface Work {
  readonly busy: boolean
  readonly start: (work: () => Promise<void>) => void
  /** Why the last work failed. */
  readonly problem: VNode | null
}

function useWork(): Work {
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  return {
    busy,
    problem:
      problem === undefined ? null : (
        <p class="note bad" role="alert">
          {problem}
        </p>
      ),
    start(work) {
      setBusy(true)
      setProblem(undefined)
      void work()
        .catch((error: unknown) => setProblem(error instanceof Error ? error.message : String(error)))
        .finally(() => setBusy(false))
    },
  }
}

/** A second press does it. */
function Confirmed(o: {
  readonly label: string
  readonly question: string
  readonly disabled: boolean
  readonly onConfirm: () => void
}): VNode {
  const [asked, setAsked] = useState(false)
  if (!asked)
    return (
      <button type="button" disabled={o.disabled} onClick={() => setAsked(true)}>
        {o.label}…
      </button>
    )
  return (
    <span class="question" role="group" aria-label={o.label}>
      {o.question}{" "}
      <button type="button" class="danger" disabled={o.disabled} onClick={o.onConfirm}>
        {o.label}
      </button>{" "}
      <button type="button" onClick={() => setAsked(false)}>
        Keep
      </button>
    </span>
  )
}

function Field(o: {
  readonly label: string
  readonly text: string
  readonly button: string
  readonly disabled: boolean
  readonly onSubmit: (text: string) => void
}): VNode {
  const [text, setText] = useState(o.text)
  return (
    <form
      class="field"
      onSubmit={(event) => {
        event.preventDefault()
        o.onSubmit(text.trim())
      }}
    >
      <label>
        {o.label} <input type="text" value={text} onInput={({ currentTarget }) => setText(currentTarget.value)} />
      </label>{" "}
      <button type="submit" disabled={o.disabled}>
        {o.button}
      </button>
    </form>
  )
}

export function SessionChanges({ id, title }: { readonly id: string; readonly title: string }): VNode | null {
  const changes = useContext(ChangesContext)
  const { busy, start, problem } = useWork()
  const [open, setOpen] = useState(false)
  if (changes === undefined) return null
  return (
    <details class="changes" open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Change this session</summary>
      {open ? (
        <>
          <Field
            key={title}
            label="Title"
            text={title}
            button="Rename"
            disabled={busy}
            onSubmit={(text) => start(() => changes.make(id, "title", { title: text === "" ? null : text }))}
          />
          <p class="actions">
            {changes.compact ? (
              <button type="button" disabled={busy} onClick={() => start(() => changes.make(id, "compact", {}))}>
                Compact the context
              </button>
            ) : null}
            <Confirmed
              label="Delete the session"
              question="All its data is removed for good."
              disabled={busy}
              onConfirm={() =>
                start(async () => {
                  await changes.remove(id)
                  location.hash = ""
                })
              }
            />
          </p>
          {busy ? <p class="note">Working…</p> : null}
          {problem}
        </>
      ) : null}
    </details>
  )
}

interface EntryChangesProps {
  readonly row: Row
  readonly entry: Entry
  readonly session: string | undefined
  readonly isEdited: boolean
}

export function EntryChanges({ row, entry, session, isEdited }: EntryChangesProps): VNode | null {
  const changes = useContext(ChangesContext)
  const { busy, start, problem } = useWork()
  if (changes === undefined || session === undefined) return null
  const make = (call: string, body: Readonly<Record<string, unknown>> = {}): void =>
    start(() => changes.make(session, call, { entry: row.id, ...body }))
  const isContent = row.type === "message" || row.type === "custom_message"
  return (
    <div class="changes">
      <Field
        key={row.label ?? ""}
        label="Label"
        text={row.label ?? ""}
        button="Set"
        disabled={busy}
        onSubmit={(text) => make("label", { label: text === "" ? null : text })}
      />
      {isContent ? (
        <EditForm content={contentOf(entry)} disabled={busy} onSubmit={(content) => make("edit", { content })} />
      ) : null}
      <p class="actions">
        {isContent ? (
          <button type="button" disabled={busy} onClick={() => make("edit", { content: null })}>
            Leave out of the context
          </button>
        ) : null}
        {isEdited ? (
          <button type="button" disabled={busy} onClick={() => make("restore")}>
            Content of the log again
          </button>
        ) : null}
        <button type="button" disabled={busy} onClick={() => make("branch")}>
          Continue from here
        </button>
        {row.deleted === true ? null : (
          <Confirmed
            label="Delete the entry"
            question="It stays in the log, and leaves the conversation for good."
            disabled={busy}
            onConfirm={() => make("tombstone")}
          />
        )}
      </p>
      {problem}
    </div>
  )
}

function contentOf(entry: Entry): unknown {
  const { message, content } = fieldsOf(entry)
  return isObject(message) ? message["content"] : content
}

/** The texts of the content, one below the other; other blocks, such as tool calls and images, stay as they are. */
function EditForm(o: {
  readonly content: unknown
  readonly disabled: boolean
  readonly onSubmit: (content: unknown) => void
}): VNode | null {
  const { content } = o
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [{ type: "text", text: content }]
  const [texts, setTexts] = useState<Readonly<Record<number, string>>>({})
  const id = useId()
  const editable = blocks.flatMap((block, index) => {
    const { type, text } = fieldsOf(block)
    return type === "text" && typeof text === "string" ? [{ index, text }] : []
  })
  if (editable.length === 0) return null
  const edited = (): unknown =>
    blocks.map((block, index) => (texts[index] === undefined ? block : { ...fieldsOf(block), text: texts[index] }))
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        o.onSubmit(edited())
      }}
    >
      {editable.map(({ index, text }, place) => (
        <label key={index} class="edit" for={`${id}-${index}`}>
          {place === 0 ? "Text in the context" : `Text ${place + 1}`}
          <textarea
            id={`${id}-${index}`}
            rows={Math.min(12, text.split("\n").length + 1)}
            value={texts[index] ?? text}
            onInput={({ currentTarget }) => setTexts({ ...texts, [index]: currentTarget.value })}
          />
        </label>
      ))}
      <button type="submit" disabled={o.disabled}>
        Edit
      </button>
    </form>
  )
}

/** Says that an open branch was left knowingly. */
export function Settle(o: { readonly session: string | undefined; readonly entry: string }): VNode | null {
  const { session, entry } = o
  const changes = useContext(ChangesContext)
  const { busy, start, problem } = useWork()
  if (changes === undefined || session === undefined) return null
  return (
    <>
      <button type="button" disabled={busy} onClick={() => start(() => changes.make(session, "settle", { entry }))}>
        Settle
      </button>
      {problem}
    </>
  )
}
