/**
 * Markdown as elements: markdown-it parses it, without HTML, and DOMPurify lets through only the elements and attributes below. Nothing is
 * loaded from elsewhere: an image in a text is a link to it.
 */
import DOMPurify from "dompurify"
import MarkdownIt from "markdown-it"
import { h } from "./dom.ts"

/** Above this a text is shown as it is: parsing a megabyte blocks the page. */
const MAX_MARKDOWN_UNITS = 200_000

const TAGS = "p br hr strong em s code pre blockquote ul ol li a h4 h5 h6 table thead tbody tr th td div".split(" ")
const ATTRIBUTES = ["href", "title", "start", "tabindex", "role", "aria-label"]

const parser = new MarkdownIt({ html: false, linkify: true, breaks: true })
const { rules } = parser.renderer
// Headings inside a message are below those of the page.
rules["heading_open"] = (tokens, index) => `<${headingOf(tokens[index]?.tag)}>`
rules["heading_close"] = (tokens, index) => `</${headingOf(tokens[index]?.tag)}>`
// What is wider than the screen scrolls, with the keyboard too.
rules["table_open"] = () => `<div tabindex="0" role="region" aria-label="Table"><table>`
rules["table_close"] = () => `</table></div>`
const code: NonNullable<(typeof rules)["fence"]> = (tokens, index) =>
  `<pre tabindex="0"><code>${parser.utils.escapeHtml((tokens[index]?.content ?? "").replace(/\n$/, ""))}</code></pre>`
rules["fence"] = code
rules["code_block"] = code
rules["image"] = (tokens, index) => {
  const image = tokens[index]
  const content = image?.content ?? ""
  const source = parser.utils.escapeHtml(String(image?.attrGet("src") ?? ""))
  return `<a href="${source}">${parser.utils.escapeHtml(content === "" ? "image" : `image: ${content}`)}</a>`
}

export function prose(markdown: string): DocumentFragment {
  if (markdown.length > MAX_MARKDOWN_UNITS) {
    const plain = document.createDocumentFragment()
    plain.append(h("pre", { tabindex: 0 }, markdown))
    return plain
  }
  const fragment = DOMPurify.sanitize(parser.render(markdown).trim(), {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ATTRIBUTES,
    // Their values are no addresses.
    ADD_URI_SAFE_ATTR: ATTRIBUTES.filter((name) => name !== "href"),
    ALLOWED_URI_REGEXP: /^(?:https?:\/\/|mailto:)/i,
    RETURN_DOM_FRAGMENT: true,
  })
  for (const link of fragment.querySelectorAll("a")) {
    // Only addresses of the web and of mail: any other would mean a file beside this page.
    if (!link.hasAttribute("href")) link.replaceWith(...link.childNodes)
    link.target = "_blank"
    link.rel = "noopener noreferrer nofollow"
  }
  return fragment
}

function headingOf(tag = "h1"): string {
  return { h1: "h4", h2: "h5" }[tag] ?? "h6"
}
