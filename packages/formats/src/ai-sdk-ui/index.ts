/** The UI messages of the AI SDK, which chats store: an array of `{id, role, parts}`, or an object that has it in `messages`. */
import type { Format } from "../base/format.ts"
import type { RecordMessages } from "../base/list-format.ts"
import { defineListFormat } from "../base/list.ts"
import { fieldsOf, isObject, timestampOf } from "../base/values.ts"
import { messagesOf } from "./read.ts"
import { recordsOf } from "./write.ts"

export const aiSdkUi: Format = defineListFormat({
  format: "ai-sdk-ui",
  title: "AI SDK UI messages",
  versions: "7",
  field: "messages",
  contents: "history",
  rejects: (records) =>
    records.some(({ role, parts }) => typeof role === "string" && Array.isArray(parts))
      ? undefined
      : "has no message with a `role` and `parts`",
  *read(records): Iterable<RecordMessages> {
    for (const record of records) {
      const messages = isObject(record) ? messagesOf(record) : undefined
      if (messages === undefined) {
        yield { records: [record], messages: [], problem: "is no message of a known role with `parts`" }
      } else {
        const timestamp = timestampOf(fieldsOf(fieldsOf(record)["metadata"])["createdAt"])
        yield { records: [record], messages, timestamp }
      }
    }
  },
  write: recordsOf,
  // The results of a message's calls, and the step after them, are parts of that message.
  joins: (before, { role }) =>
    before[0]?.role === "assistant" &&
    (role === "toolResult" || (role === "assistant" && before.at(-1)?.role === "toolResult")),
})
