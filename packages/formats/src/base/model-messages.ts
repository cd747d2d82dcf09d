/** Messages for a model of an entry that is no plain message: custom messages and roles, summaries of branches. As `context()` renders them. */
import type { ContentBlock, Entry, ModelMessage } from "@sessions/core"
import { buildSessionContext, toModelMessages } from "@sessions/core/context"

/** The messages that a model gets of one entry, with this content if it was edited; none for an entry that adds nothing to a context. */
export function modelMessagesOf(entry: Entry, edited?: readonly ContentBlock[]): readonly ModelMessage[] {
  const alone = { ...entry, parentId: null, seq: 1 } as Entry
  const { messages } = toModelMessages(buildSessionContext([alone]).messages)
  return messages.map(({ message }) => (edited === undefined ? message : { ...message, content: edited }))
}
