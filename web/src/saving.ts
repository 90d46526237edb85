/** Files for the person at the page: tables as CSV, pictures as SVG or PNG. */

/** Let the browser save a file. */
export function save(name: string, content: Blob | string, type = "text/plain"): void {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = Object.assign(document.createElement("a"), { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

const cell = (value: unknown) => {
  const text = value === null || value === undefined ? "" : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
};

/** A table as CSV. */
export function saveTable(name: string, head: string[], rows: unknown[][]): void {
  save(`${name}.csv`, [head, ...rows].map((row) => row.map(cell).join(",")).join("\n") + "\n", "text/csv");
}

/** What makes up the look of an element of a picture. */
const LOOK = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linejoin", "opacity",
  "font-family", "font-size", "font-weight", "text-anchor", "paint-order", "display", "visibility"];

/** A picture of the page as a file of its own, with the look that the style sheet gives it. */
function drawing(picture: SVGSVGElement): string {
  const copy = picture.cloneNode(true) as SVGSVGElement;
  const from = picture.querySelectorAll("*"), to = copy.querySelectorAll("*");
  from.forEach((element, k) => {
    const style = getComputedStyle(element);
    const own = to[k] as SVGElement;
    own.removeAttribute("class");
    own.setAttribute("style", LOOK.map((name) => `${name}:${style.getPropertyValue(name)}`).join(";"));
  });
  const { width, height } = picture.viewBox.baseVal;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  copy.setAttribute("style", `background:${getComputedStyle(document.body).backgroundColor}`);
  return new XMLSerializer().serializeToString(copy);
}

/** A picture as SVG or, at twice the size of the screen, as PNG. */
export async function savePicture(name: string, picture: SVGSVGElement, kind: "svg" | "png"): Promise<void> {
  const text = drawing(picture);
  if (kind === "svg") return save(`${name}.svg`, text, "image/svg+xml");
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const { width, height } = picture.viewBox.baseVal;
  const canvas = Object.assign(document.createElement("canvas"), { width: 2 * width, height: 2 * height });
  const pen = canvas.getContext("2d")!;
  pen.fillStyle = getComputedStyle(document.body).backgroundColor;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  const content = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
  if (content) save(`${name}.png`, content);
}
