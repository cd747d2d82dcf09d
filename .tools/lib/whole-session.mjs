// A session with every kind of content that some format has no place for.
import { createSessions } from "../../packages/core/src/index.ts"
import { createMemoryStorage } from "../../packages/memory/src/index.ts"

const text = (value) => [{ type: "text", text: value }]
const image = { type: "image", mimeType: "image/png", data: "iVBORw0KGgo=" }
const message = (role, content, more = {}) => ({ type: "message", message: { role, content, ...more } })
const call = (id, name = "bash") => ({ type: "toolCall", id, name, arguments: { command: "ls" } })

/** What a writer needs of it. */
export async function sessionWithEverything() {
  const session = await createSessions({ storage: createMemoryStorage() }).create({ cwd: "/work", title: "A title" })
  const { ids } = await session.append([message("user", text("long ago")), message("assistant", text("yes"))])
  const files = { readFiles: [], modifiedFiles: [] }
  await session.append({ type: "compaction", summary: "S", firstKeptEntryId: ids[1] ?? "", tokensBefore: 1, ...files })
  await session.append([
    message("system", text("be brief")),
    message(
      "user",
      [
        ...text("look"),
        image,
        { type: "file", path: "a.ts", mimeType: "text/plain" },
        { type: "acme:block", value: 1 },
      ],
      { attachments: [{ path: "b.pdf", mimeType: "application/pdf" }] },
    ),
    message(
      "assistant",
      [
        { type: "thinking", thinking: "hm", signature: "s" },
        ...text("ok"),
        call("c1"),
        call("c2", "a tool with spaces"),
      ],
      { provider: "acme", model: "m", usage: { input: 1, output: 1 } },
    ),
    message("toolResult", [image], { toolCallId: "c1", isError: true }),
    message("toolResult", text("out"), { toolCallId: "c2", isError: false }),
    message("toolResult", text("lost"), { toolCallId: "without a call", isError: false }),
    message("acme:program", [], { output: "what a program said" }),
    { type: "custom", customType: "acme/state", data: { note: "kept beside the conversation" } },
    { type: "custom_message", customType: "acme/hint", content: text("a hint"), display: true },
    { type: "model_change", provider: "acme", model: "m2" },
    { type: "usage", kind: "acme:embedding", usage: { input: 1, output: 1 } },
    { type: "title_change", title: "Another title", source: "auto" },
  ])
  const { ids: last } = await session.append([
    message("user", text("half of a pair \ud83d")),
    message("assistant", text("a")),
  ])
  const [asked = "", answered = ""] = last
  await session.label(asked, "here")
  await session.append(message("user", text("on a branch")))
  await session.branch(answered)
  await session.append([message("user", text("next")), message("assistant", [...text("an open call"), call("c3")])])
  await session.edit(answered, { content: text("edited") })
  await session.refresh()
  return { header: session.header, entries: () => session.entries() }
}
