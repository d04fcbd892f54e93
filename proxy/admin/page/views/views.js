// All views, in the order of the navigation. A view is a module with show(root, page): it draws into root, and page has what app.js gives it.
import { show as overview } from './overview.js';
import { show as misses } from './misses.js';
import { show as review } from './review.js';
import { show as topics } from './topics.js';
import { show as policy } from './policy.js';
import { show as engines } from './engines.js';
import { show as live } from './live.js';

export const views = [
  { id: 'overview', title: 'Overview', show: overview },
  { id: 'misses', title: 'Misses', show: misses },
  { id: 'review', title: 'Review', show: review },
  { id: 'topics', title: 'Topics', show: topics },
  { id: 'policy', title: 'Policy and what-if', show: policy },
  { id: 'engines', title: 'Engines', show: engines },
  { id: 'live', title: 'Live', show: live },
];
