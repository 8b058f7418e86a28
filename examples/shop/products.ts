export interface Product {
  id: string;
  name: string;
  amount_rub: string;
  /** With a test key the kopecks choose the outcome of the payment. */
  hint: string;
}

export const products: Product[] = [
  { id: 'tea', name: 'Green tea, 100 g', amount_rub: '250.00', hint: 'will be paid immediately' },
  { id: 'cake', name: 'Honey cake', amount_rub: '480.01', hint: 'will be declined' },
  { id: 'book', name: 'A book about ledgers', amount_rub: '890.02', hint: 'will take 30 seconds' },
  { id: 'lamp', name: 'Desk lamp', amount_rub: '1990.03', hint: 'will be rejected' },
];
