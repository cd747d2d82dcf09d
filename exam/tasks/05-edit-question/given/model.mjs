/** Stands for a model: it gets a list of `{ role, content }`, where content is a text, and resolves with the text of its answer. */
export async function answer(messages) {
  return `about ${messages.map(({ content }) => content).join(", ")}`
}
