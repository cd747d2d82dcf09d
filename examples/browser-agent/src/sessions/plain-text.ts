import MarkdownIt from "markdown-it"

const parser = new MarkdownIt({ html: false })

/** A text without its Markdown, for places of one line: titles and the outline. */
export function plainText(markdown: string): string {
  const blocks = parser.parse(markdown, {}).map((token) => {
    if (token.type === "inline")
      return (token.children ?? []).map(({ type, content }) => (type.endsWith("break") ? " " : content)).join("")
    // The number of an item is part of the text.
    if (token.type === "list_item_open") return token.info === "" ? "" : `${token.info}${token.markup}`
    return token.type === "fence" || token.type === "code_block" ? token.content : ""
  })
  return blocks.join(" ").trim().replace(/\s+/g, " ")
}
