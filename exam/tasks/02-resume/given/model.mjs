/** Stands for a model: it gets a list of `{ role, content }`, where content is a text, and resolves with the text of its answer. */
export async function answer(messages) {
  for (const { role, content } of messages) {
    if (!["user", "assistant"].includes(role) || typeof content !== "string")
      throw new Error("400: messages are { role, content }")
  }
  const questions = messages.filter(({ role }) => role === "user")
  return `That was question ${questions.length}, after "${messages[0].content}".`
}
