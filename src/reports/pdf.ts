import { createRequire } from 'node:module';
import type { ReportLanguage } from './texts.ts';

export type Pdf = PDFKit.PDFDocument;

/** Readers have no font with Cyrillic for certain, so a file brings the characters that it uses. */
const { resolve } = createRequire(import.meta.url);
const fontOf = (file: string) => resolve(`@expo-google-fonts/pt-sans/${file}.ttf`);

const margin = 40;
const ruleColour = '#9ca3af';
const lineWidth = 0.5;
const cellPadding = 3;

interface PdfOptions {
  title: string;
  language: ReportLanguage;
  /** Its only time: two files of the same facts are the same. */
  madeAt: Date;
  layout: 'portrait' | 'landscape';
}

/** A document of a few pages, which is drawn at once. */
export async function* writePdf(
  { title, language, madeAt, layout }: PdfOptions,
  draw: (pdf: Pdf) => void,
): AsyncGenerator<Uint8Array> {
  const { default: PdfDocument } = await import('pdfkit');
  const pdf = new PdfDocument({
    ...{ size: 'A4', margin, layout, lang: language, displayTitle: true },
    font: fontOf('400Regular/PTSans_400Regular'),
    info: { Title: title, Producer: 'Kopeck', Creator: 'Kopeck', CreationDate: madeAt },
  });
  pdf.registerFont('regular', fontOf('400Regular/PTSans_400Regular'));
  pdf.registerFont('bold', fontOf('700Bold/PTSans_700Bold'));
  draw(pdf);
  pdf.end();
  yield* pdf;
}

/** Below what was drawn before. */
export function paragraph(pdf: Pdf, text: string, { size = 10, bold = false, gap = 4 } = {}): void {
  pdf
    .font(bold ? 'bold' : 'regular')
    .fontSize(size)
    .text(text, margin, pdf.y, { width: pdf.page.width - 2 * margin });
  pdf.y += gap;
}

export interface PdfColumn {
  head?: string;
  width: number;
  align?: 'left' | 'right';
}

/** Draws lines of a table; on each page the header comes first, if there is one. */
export function drawTable(
  pdf: Pdf,
  columns: PdfColumn[],
  lines: { cells: string[]; bold?: boolean }[],
  size = 9,
): void {
  const bottom = () => pdf.page.height - margin;
  const heads = { cells: columns.map(({ head }) => head ?? ''), bold: true };
  const hasHeads = columns.some(({ head }) => head !== undefined);
  const heightOf = ({ cells, bold = false }: { cells: string[]; bold?: boolean }) => {
    pdf.font(bold ? 'bold' : 'regular').fontSize(size);
    return (
      2 * cellPadding +
      Math.max(
        ...columns.map(({ width }, index) =>
          pdf.heightOfString(cells[index] || ' ', { width: width - 2 * cellPadding }),
        ),
      )
    );
  };
  const drawLine = (line: { cells: string[]; bold?: boolean }) => {
    const height = heightOf(line);
    const top = pdf.y;
    let left = margin;
    for (const [index, { width, align = 'left' }] of columns.entries()) {
      pdf.rect(left, top, width, height).lineWidth(lineWidth).stroke(ruleColour);
      const inside = { width: width - 2 * cellPadding, align };
      pdf.fillColor('black').text(line.cells[index] ?? '', left + cellPadding, top + cellPadding, inside);
      left += width;
    }
    pdf.y = top + height;
  };
  if (hasHeads) drawLine(heads);
  for (const line of lines) {
    if (pdf.y + heightOf(line) > bottom()) {
      pdf.addPage();
      if (hasHeads) drawLine(heads);
    }
    drawLine(line);
  }
  pdf.x = margin;
  pdf.y += 2 * cellPadding;
}

/** Keeps what follows together: it begins a new page if the rest of this one is lower. */
export function keepTogether(pdf: Pdf, height: number): void {
  if (pdf.y + height > pdf.page.height - margin) pdf.addPage();
}

/** An amount with the separators of the language. */
export function amountText(language: ReportLanguage, amount: string): string {
  const digits = amount.split('.')[1]?.length ?? 0;
  const format = new Intl.NumberFormat(language, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return format.format(amount as Intl.StringNumericLiteral);
}
