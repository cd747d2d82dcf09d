// A conversation as rows, `{ row, id?, isOwn? }`: what is compared. `id`: of a call or a result. Names of tools are those of each agent, and are left out.
// `isOwn`: the agent speaks of itself and of its surroundings, in a message of the user or behind a result.
import { createHash } from "node:crypto"

export const blocksOf = (content) => {
  if (typeof content === "string") return [{ type: "text", text: content }]
  return Array.isArray(content) ? content : content === undefined || content === null ? [] : [content]
}

export const textOf = (content) =>
  blocksOf(content)
    .map((block) => (typeof block === "string" ? block : (block.text ?? "")))
    .join("\n")

export const callRow = (id, input) => ({ id, row: `call ${JSON.stringify(sorted(input))}` })

export function resultRows(id, content) {
  const text = textOf(content)
  const reminders = text.match(REMINDERS) ?? []
  const shown = text.replaceAll(REMINDERS, "").trim()
  return [{ id, row: `result ${shown}` }, ...reminders.map((row) => ({ row, isOwn: true }))]
}

const REMINDERS = /<system-reminder>[^]*?<\/system-reminder>/g

export const imageRow = (role, data) => ({
  row: `${role} (image ${createHash("sha256")
    .update(data ?? "")
    .digest("hex")
    .slice(0, 8)})`,
})

/** What is not for the model of the conversation is left out. */
export function said(role, text) {
  // Each program puts its own words round a summary.
  const shown = (/<summary>\n([^]*)\n<\/summary>/.exec(text)?.[1] ?? text).trim()
  if (role === "user" && ASKS_SUMMARY.test(shown)) return [{ row: ASKED }]
  if (role === "system" || role === "developer" || shown === "") return []
  return [OWN_WORDS.test(shown) ? { row: shown, isOwn: true } : { row: `${role} ${shown}` }]
}

/** What a summary answers, in the words of core and of opencode. */
const ASKS_SUMMARY =
  /^(?:The conversation so far was long and has been summarized\. Go on from the summary\.|What did we do so far\?)$/

/** What agents tell the model of themselves, in messages of the user. */
const OWN_WORDS =
  /^(?:<system-reminder>|<environment_context>|<permissions instructions>|<user_instructions>|<INSTRUCTIONS>|# AGENTS\.md|<skills_instructions>|<collaboration_mode>|<session_context>)/

const ASKED = "user (asks for the summary)"

/** A summary is said by the user, or answers one: it is one row, of the user. */
export function withSummaries(rows) {
  return rows.flatMap((one, i) => {
    if (one.row === ASKED) return []
    return rows[i - 1]?.row === ASKED ? [{ ...one, row: one.row.replace(/^assistant /, "user ") }] : [one]
  })
}

/** Results of calls at once in the order of the calls: some agents log them as the tools end, and send them so. */
export function inOrderOfCalls(rows) {
  const calls = rows.flatMap(({ id, row }) => (row.startsWith("call ") ? [id] : []))
  const isResult = ({ row }) => row.startsWith("result ")
  const ordered = [...rows]
  for (let start = 0; start < rows.length; start++) {
    let end = start
    while (end < rows.length && (isResult(rows[end]) || rows[end].isOwn)) end++
    const places = rows.slice(start, end).flatMap((one, i) => (isResult(one) ? [start + i] : []))
    const results = places.map((i) => rows[i]).sort((a, b) => calls.lastIndexOf(a.id) - calls.lastIndexOf(b.id))
    for (const [i, place] of places.entries()) ordered[place] = results[i]
    start = Math.max(start, end - 1)
  }
  return ordered
}

/** The rows of our context, as those of a request. */
export function rowsOfContext(messages) {
  return messages.flatMap(({ message: { role, content, toolCallId } }) => {
    if (role === "toolResult") return resultRows(toolCallId, content)
    return blocksOf(content).flatMap((block) => {
      if (block.type === "toolCall") return [callRow(block.id, block.arguments)]
      if (block.type === "image") return [imageRow(role, block.data)]
      return block.type === "text" ? said(role, block.text) : []
    })
  })
}

/** Agents order the arguments of a call as their tools declare them. */
function sorted(value) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
