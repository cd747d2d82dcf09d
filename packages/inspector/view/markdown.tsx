/**
 * Markdown as elements. markdown-it parses it without HTML, and its tokens become elements one by one, never a text of HTML: so
 * the elements below, with the attributes that are written here, are all that a log can make.
 */
import MarkdownIt from "markdown-it"
import { type ComponentChild, h, type VNode } from "preact"
import { verbatim } from "./verbatim.tsx"

const PARSER = new MarkdownIt({ html: false, linkify: false })

type Token = ReturnType<typeof PARSER.parse>[number]

/** A longer text is shown as it is: a hostile one of this length takes half a second to parse. */
export const MAX_MARKDOWN_UNITS = 100_000

export function Markdown({ text }: { readonly text: string }): VNode {
  return <div class="markdown">{childrenOf(PARSER.parse(text, {}))}</div>
}

interface Open {
  readonly make: (children: readonly ComponentChild[]) => ComponentChild
  readonly children: ComponentChild[]
}

function childrenOf(tokens: readonly Token[]): readonly ComponentChild[] {
  const root: Open = { make: () => null, children: [] }
  const open: Open[] = [root]
  const add = (child: ComponentChild): void => void open.at(-1)?.children.push(child)
  for (const token of tokens) {
    if (token.nesting === 1) open.push({ make: containerOf(token), children: [] })
    else if (token.nesting === 0) add(leafOf(token))
    else if (open.length > 1) {
      const closed = open.pop() as Open
      add(closed.make(closed.children))
    }
  }
  return root.children
}

/** Headings inside a message are below those of the page. */
const HEADINGS: Readonly<Record<string, string>> = { h1: "h4", h2: "h5", h3: "h6", h4: "h6", h5: "h6", h6: "h6" }
const TAGS = new Set(["p", "blockquote", "ul", "li", "thead", "tbody", "tr", "strong", "em", "s"])

function containerOf(token: Token): Open["make"] {
  const { tag, type } = token
  if (type === "link_open") return (children) => <Link href={attribute(token, "href")}>{children}</Link>
  // A paragraph in a list without blank lines.
  if (token.hidden) return (children) => children as ComponentChild
  const heading = HEADINGS[tag]
  if (heading !== undefined) return (children) => h(heading, null, ...children)
  if (tag === "table")
    return (children) => (
      <div class="wide" tabIndex={0} role="region" aria-label="Table">
        <table>{children}</table>
      </div>
    )
  if (tag === "th" || tag === "td") return (children) => h(tag, { class: alignment(token) }, ...children)
  if (tag === "ol") return (children) => h("ol", { start: Number(attribute(token, "start") || 1) }, ...children)
  return TAGS.has(tag) ? (children) => h(tag, null, ...children) : (children) => children as ComponentChild
}

function leafOf(token: Token): ComponentChild {
  switch (token.type) {
    case "inline":
      return childrenOf(token.children ?? []) as ComponentChild
    case "fence":
      return <Code language={token.info.trim().split(/\s/)[0] ?? ""} text={token.content} />
    case "code_block":
      return <Code language="" text={token.content} />
    case "code_inline":
      return <code>{verbatim(token.content)}</code>
    case "hr":
      return <hr />
    case "hardbreak":
      return <br />
    case "softbreak":
      return "\n"
    case "image":
      return <LinkedImage src={attribute(token, "src")} alt={token.content} />
    default:
      return token.content
  }
}

export function Code({ language, text }: { readonly language: string; readonly text: string }): VNode {
  return (
    <div class="code">
      {language === "" ? null : <span class="language">{language}</span>}
      <pre>
        <code>{verbatim(text.replace(/\n$/, ""))}</code>
      </pre>
    </div>
  )
}

/** Only addresses that a browser opens as pages or mail. A relative one would mean a file beside this page. */
function Link({ href, children }: { readonly href: string; readonly children: readonly ComponentChild[] }): VNode {
  if (!isWebAddress(href)) return <span title={href}>{children}</span>
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow" title={href}>
      {children}
    </a>
  )
}

/** An image in Markdown is shown if it is part of the text; any other is a link, because the page loads nothing. */
function LinkedImage({ src, alt }: { readonly src: string; readonly alt: string }): VNode {
  const [, type = "", data = ""] = /^data:([^;,]*);base64,(.*)$/s.exec(src) ?? []
  if (isPicture(type, data)) return <Picture mimeType={type} data={data} alt={alt} />
  const name = alt === "" ? "image" : `image: ${alt}`
  return <Link href={src}>{[`[${name}]`]}</Link>
}

/** Whether an image can be shown. SVG is not, because it is a document; a missing blob or a redacted image is no Base64. */
export function isPicture(mimeType: string, data: string): boolean {
  return /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/.test(mimeType) && /^[A-Za-z0-9+/\s]+=*\s*$/.test(data)
}

export function Picture(o: { readonly mimeType: string; readonly data: string; readonly alt: string }): VNode {
  return <img src={`data:${o.mimeType};base64,${o.data}`} alt={o.alt === "" ? "Image without a description" : o.alt} />
}

function isWebAddress(href: string): boolean {
  return /^(?:https?:\/\/|mailto:)/i.test(href) && URL.canParse(href)
}

function attribute(token: Token, name: string): string {
  return String(token.attrGet(name) ?? "")
}

function alignment(token: Token): string {
  const [, side = "left"] = /text-align:(left|center|right)/.exec(attribute(token, "style")) ?? []
  return `align-${side}`
}
